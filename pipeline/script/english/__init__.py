"""English: the rules in the order in which they are tried, a module for each kind of thing that is written."""
