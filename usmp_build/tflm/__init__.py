"""Plans for TensorFlow Lite Micro, for those who keep its interpreter: its own rules, with our planner.

Model ─lifetimes→ Demand ─plan→ Offer ─with_offsets→ .tflite with the metadata "OfflineMemoryAllocation"
"""
