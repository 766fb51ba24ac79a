"""Everything that can go wrong in a way the user can mend, as a tree with an exit code per class.

    RenderBookError
    ├── UsageError            2    the command's words: an unknown chapter, format or chunk
    │   └── OutputError       2    the output folder: held by another run, not writable, over the source
    ├── ManuscriptError       3    the manuscript: missing, empty, not what its name says, protected, unsafe
    │   └── UnaccountedError  3    text of the manuscript that is neither read nor listed as left out
    ├── ConfigError           4    a profile, voice file, lexicon or manifest that says something we don't know
    ├── VoiceError            5    a voice or its model: unknown, not installed, not the file it should be
    │   └── NoEnvironmentError 5  the packages of its engine: no index to be had from, no room
    ├── IncompleteError       6    something could not be rendered; it is listed in the report
    ├── StoppedError          7    stopped as asked, with work left
    └── InterruptedByUser   130    a signal; what was accepted is on disk

The message of each is a sentence for the person at the terminal: what is wrong, with its name, and the remedy.
"""

from __future__ import annotations


class RenderBookError(Exception):
    """The root. Never raised itself."""

    exit_code = 1


class UsageError(RenderBookError):
    exit_code = 2


class OutputError(UsageError):
    """The output folder can't be used."""


class ManuscriptError(RenderBookError):
    exit_code = 3


class UnaccountedError(ManuscriptError):
    """A fault of ours, told before a word is rendered."""


class ConfigError(RenderBookError):
    exit_code = 4


class VoiceError(RenderBookError):
    exit_code = 5


class NoEnvironmentError(VoiceError):
    """The environment of a voice's engine can't be built."""


class IncompleteError(RenderBookError):
    exit_code = 6


class StoppedError(RenderBookError):
    exit_code = 7


class InterruptedByUser(RenderBookError):
    exit_code = 130
