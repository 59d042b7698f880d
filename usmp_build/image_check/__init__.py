"""What a linker made of a plan: images and map files, read without trust and compared with plan.json."""
