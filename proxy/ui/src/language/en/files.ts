/** The words of src/files. */
export const files = {};
