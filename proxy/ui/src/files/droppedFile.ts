/** A file that was dropped on another page, for the import page. */
let handed: File | null = null;

export const passFile = (file: File) => {
  handed = file;
};

export function takeFile(): File | null {
  const file = handed;
  handed = null;
  return file;
}
