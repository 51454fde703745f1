export default function CodeDialog(_props: { onClose: () => void }) {
  return null;
}
