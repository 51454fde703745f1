/** The words of pages that are loaded when they are opened, beside those of `index.ts`. */
import { access } from "./en/access";
import { files } from "./en/files";
import { inbound } from "./en/inbound";
import { operations } from "./en/operations";
import { reference } from "./en/reference";
import { template } from "./en/template";
import { webhooks } from "./en/webhooks";

const english = { access, files, inbound, operations, reference, template, webhooks };

export type PageMessages = typeof english;

export const pageMessages: PageMessages = english;
