/** The words of src/inbound. */
export const inbound = {};
