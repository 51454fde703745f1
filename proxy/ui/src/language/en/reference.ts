/** The words of src/reference. */
export const reference = {};
