"""Receiving: authorise, de-duplicate, record, acknowledge; one lane per address."""
