"""Tests of the model vendors, against their wire simulator."""
