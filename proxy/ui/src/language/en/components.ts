/** The words of src/components. */
export const components = {
  busy: "Working",
  cancel: "Cancel",
  close: "Close",
  choose: "Choose",
  requiredNote: "* required",
  copy: (what: string) => `Copy ${what}`,
  copied: "Copied",
  administratorsOnly: "Only administrators see this",
  administratorsOnlyHint: (role: string) =>
    `Your key acts as the role ${role}. An administrator of this workspace can change this for you, or issue a key with more rights.`,
  shownOnce: (what: string) => `Copy the ${what} now. It is shown once and cannot be read again.`,
};
