/** The words of src/value. */
export const value = {};
