/** The words of src/access. */
export const access = {};
