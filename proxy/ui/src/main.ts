import { askAhead } from "./app/ahead";
import { storedSession } from "./session/stored";

// This file is small, and what it sends is answered while the application is read.
askAhead(storedSession().key);
void import("./app/start");
