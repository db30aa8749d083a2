"""Searches over prefixes that several methods share, and what they do where masses underflow."""
