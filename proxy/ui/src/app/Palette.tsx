export function Palette(_props: { project: string }) {
  return null;
}
