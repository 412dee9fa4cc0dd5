"""Kim, Yun and Yoo 2010: large margin training of semi-Markov models for phonetic recognition."""
