/** The words of src/filter. */
export const filter = {};
