/** The words of src/template. */
export const template = {
  types: {
    string: "Text",
    dimension: "Text",
    number: "Number",
    metric: "Metric",
    list: "List",
    date: "Date",
    datetime: "Date and time",
    reference: "Reference",
    boolean: "Yes or no",
  },
};
