"""(described by its owner)"""
