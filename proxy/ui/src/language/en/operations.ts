/** The words of src/operations. */
export const operations = {};
