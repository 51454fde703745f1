/** Saves a file in the user's browser. */
export function save(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser needs the blob only until the download begins.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
