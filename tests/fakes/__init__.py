"""Doubles at the ports, namesakes of the port."""
