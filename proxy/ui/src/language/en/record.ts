/** The words of src/record. */
export const record = {};
