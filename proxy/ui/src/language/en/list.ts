/** The words of src/list. */
export const list = {};
