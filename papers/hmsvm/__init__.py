"""Altun, Tsochantaridis and Hofmann: Hidden Markov Support Vector Machines (ICML 2003). See README.md."""
