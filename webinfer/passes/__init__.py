"""Stages from a source graph to the fused graph that is lowered, one file per stage."""
