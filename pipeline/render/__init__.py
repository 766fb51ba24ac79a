"""From chunks to accepted takes: the loop, its moves, the store, the judge and the pools."""
