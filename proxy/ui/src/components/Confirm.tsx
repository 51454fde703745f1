import { type ReactNode, useState } from "react";
import { messages } from "../language";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Failure } from "./Notice";

type Props = {
  title: string;
  /** The consequence, in one sentence. */
  children: ReactNode;
  /** The verb: "Revoke key". */
  action: string;
  isDanger?: boolean;
  run: () => Promise<unknown>;
  onClose: () => void;
};

/** A confirmation of an irreversible action. It closes after the action, and shows errors. */
export function Confirm({ title, children, action, isDanger = true, run, onClose }: Props) {
  const [state, setState] = useState<{ isRunning: boolean; error?: unknown }>({ isRunning: false });
  const start = async () => {
    setState({ isRunning: true });
    try {
      await run();
      onClose();
    } catch (error) {
      setState({ isRunning: false, error });
    }
  };
  return (
    <Dialog
      title={title}
      isOpen
      isQuestion
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose} autoFocus>
            {messages.components.cancel}
          </Button>
          <Button kind={isDanger ? "danger" : "main"} onPress={start} isDisabled={state.isRunning}>
            {action}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {state.error !== undefined && <Failure error={state.error} />}
    </Dialog>
  );
}
