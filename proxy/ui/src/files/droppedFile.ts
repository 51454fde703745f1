/** A file that was dropped on one page for the wizard of another. */
let handed: File | null = null;

export const handOver = (file: File) => {
  handed = file;
};

export function takeFile(): File | null {
  const file = handed;
  handed = null;
  return file;
}
