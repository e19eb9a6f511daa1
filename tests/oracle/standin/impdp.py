"""impdp as far as dbatk calls it (`tests.oracle.standin.expdp`). Test only."""

from tests.oracle.standin.expdp import main

if __name__ == "__main__":
    main("impdp")
