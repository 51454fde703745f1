/** The words of src/value. */
export const value = {
  empty: "empty",
  yes: "Yes",
  no: "No",
  hidden: "A record that you may not see",
  noKey: "No external key",
  copyKey: "Copy the external key",
  copied: (key: string) => `Copied: ${key}`,
  measured: (when: string) => `Measured ${when}`,
};
