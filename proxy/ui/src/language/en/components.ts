/** The words of src/components. */
export const components = {
  busy: "Working",
  cancel: "Cancel",
  close: "Close",
  choose: "Choose",
  requiredNote: "* required",
  copy: (what: string) => `Copy ${what}`,
  copied: "Copied",
  administratorsOnly: "For administrators only",
  administratorsOnlyHint: (role: string) =>
    `Your key acts as the role ${role}. Ask an administrator of this workspace to make the change, or to issue a key with more privileges.`,
  shownOnce: (what: string) => `Copy the ${what} now. It is shown only once.`,
};
