import { FileUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import { DropZone, FileTrigger, isFileDropItem } from "react-aria-components";
import { Button } from "../components/Button";
import { Notice } from "../components/Notice";
import { pageMessages } from "../language/pages";
import style from "./files.module.css";

const t = pageMessages.files;
const KINDS = [".csv", ".tsv", ".txt", ".ndjson", ".jsonl", ".json", "text/csv", "application/x-ndjson"];

/** A page that accepts a file dropped anywhere on it. */
export function DropArea({ onFile, children }: { onFile: (file: File) => void; children: ReactNode }) {
  const [isRejected, setRejected] = useState(false);
  return (
    <DropZone
      className={style.zone ?? ""}
      aria-label={t.dropTitle}
      onDrop={async ({ items }) => {
        const item = items.find(isFileDropItem);
        setRejected(item === undefined);
        if (item) onFile(await item.getFile());
      }}
    >
      {children}
      {isRejected && <Notice kind="rejection">{t.notAFile}</Notice>}
    </DropZone>
  );
}

/** A button that opens the file chooser. */
export function ChooseFile({
  onFile,
  isMain,
  children,
}: {
  onFile: (file: File) => void;
  isMain?: boolean;
  children: string;
}) {
  return (
    <FileTrigger
      acceptedFileTypes={KINDS}
      onSelect={(list) => {
        const file = list?.[0];
        if (file) onFile(file);
      }}
    >
      <Button kind={isMain ? "main" : "plain"} icon={FileUp}>
        {children}
      </Button>
    </FileTrigger>
  );
}

/** The area that invites the user to drop a file. */
export function DropInvitation({ onFile }: { onFile: (file: File) => void }) {
  return (
    <div className={style.drop}>
      <h2>{t.dropTitle}</h2>
      <p>{t.dropHint}</p>
      <ChooseFile onFile={onFile} isMain>
        {t.chooseFile}
      </ChooseFile>
    </div>
  );
}
