/** Gives the reader of the page a file. */
export function save(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has the blob once the download has begun.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
