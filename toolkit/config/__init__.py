"""What a user keeps on this machine: target profiles, references to secrets, and how targets are addressed."""
