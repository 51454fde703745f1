import { TriangleAlert } from "lucide-react";
import { Component, type ErrorInfo, type ReactNode } from "react";
import { sentence } from "../api/problem";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Empty } from "../components/Empty";
import { messages } from "../language";
import style from "./ErrorBoundary.module.css";

const t = messages.frame;

/** After an upgrade of the service, the files of the earlier version are missing. */
function isMissingFile(error: unknown): boolean {
  return /dynamically imported module|module script failed|preload CSS/i.test(sentence(error));
}

type Props = {
  /** The current address. A new address resets the error. */
  address: string;
  children: ReactNode;
};
type State = { error: unknown; address: string; stack: string };

/** Replaces a failed page with the error and ways to recover. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined, address: this.props.address, stack: "" };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error ?? new Error(t.unknownError) };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.address === state.address ? null : { error: undefined, address: props.address };
  }

  override componentDidCatch(_error: unknown, info: ErrorInfo) {
    this.setState({ stack: info.componentStack ?? "" });
  }

  override render() {
    const { error, stack } = this.state;
    if (error === undefined) return this.props.children;
    const reload = (
      <Button kind="main" onPress={() => window.location.reload()}>
        {t.reload}
      </Button>
    );
    if (isMissingFile(error)) {
      return (
        <Empty icon={TriangleAlert} title={t.pageMissing} action={reload}>
          {t.pageMissingHint}
        </Empty>
      );
    }
    const report = [sentence(error), error instanceof Error ? error.stack : "", stack].join("\n").trim();
    return (
      <Empty
        icon={TriangleAlert}
        title={t.pageFailed}
        action={
          <div className={style.ways}>
            <div className={style.buttons}>
              <Button onPress={() => this.setState({ error: undefined })}>{t.tryAgain}</Button>
              <Button onPress={() => window.location.assign("/")}>{t.toStart}</Button>
              {reload}
            </div>
            <details className={style.details}>
              <summary>{t.whatHappened}</summary>
              <Code text={report} what={t.report} isBlock />
            </details>
          </div>
        }
      >
        {t.pageFailedHint(sentence(error))}
      </Empty>
    );
  }
}
