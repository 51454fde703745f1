/** The words of src/template. */
export const template = {};
