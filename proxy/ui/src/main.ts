import { preloadPage } from "./app/preload";
import { storedSession } from "./session/stored";

// This file is small: the service responds while the browser loads the application.
preloadPage(storedSession().key);
void import("./app/start");
