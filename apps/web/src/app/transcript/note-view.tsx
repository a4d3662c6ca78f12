import type { ErrorData, ErrorKind, ExecutionMetrics, LimitName } from '@cobbler/agent';
import type { NoteItem, StoredEvent } from '@cobbler/agent/events';
import { assertNever } from '@cobbler/agent/values';
import type { VNode } from 'preact';
import { counted, duration, money, share, tokens } from '../parts/format.ts';
import { countOf } from '../session/turns.ts';

/** The actions after the end of a run. */
export interface NoteActions {
  readonly resume: () => void;
  /** Sends the last message again. */
  readonly regenerate: () => void;
  /** Undoes the last message and its changes to files. Absent if the server cannot. */
  readonly undo?: () => void;
}

interface NoteProps {
  readonly item: NoteItem;
  readonly isLast: boolean;
  readonly actions: NoteActions;
}

/** An event that is neither a message nor a response, as one or more lines. */
export function NoteView({ item: { what }, isLast, actions }: NoteProps): VNode | null {
  switch (what.type) {
    case 'failed':
      // The end of the run says that it was cancelled.
      return what.error.kind === 'aborted' ? null : <ErrorBox error={what.error} />;
    case 'compacted':
      return (
        <details class="rule-note">
          <summary>The conversation was compacted: a summary replaces the earlier messages</summary>
          <div class="thoughts">{what.event.summary}</div>
        </details>
      );
    case 'notice':
      return (
        <details class="rule-note">
          <summary>The model repeated the same calls and was asked to try something else</summary>
          <div class="thoughts">{what.event.text}</div>
        </details>
      );
    case 'stop':
      return what.event.reason === 'limit' ? (
        <p class="muted small">
          The run reached a limit ({limitWords(what.event.limit)}). The model gives one final response.
        </p>
      ) : null;
    case 'resumed':
      return null;
    case 'finished':
      return <EndLine event={what.event} isLast={isLast} actions={actions} />;
    default:
      return assertNever(what);
  }
}

interface EndProps extends Omit<NoteProps, 'item'> {
  readonly event: StoredEvent<'finished'>;
}

function EndLine({ event, isLast, actions: { resume, regenerate, undo } }: EndProps): VNode | null {
  const { status, metrics, error } = event;
  if (status === 'waiting') return null;
  const { mark, word, tone } = endings[status];
  const limit = status === 'limit' ? `: ${limitWords(event.limit)}` : '';
  return (
    <div class={`end ${tone}`}>
      <div class="end-line">
        <span class="mark" aria-hidden="true">
          {mark}
        </span>
        <span>
          {word}
          {limit}
        </span>
        <span class="facts">{factsOf(metrics).join(' · ')}</span>
        {isLast && (
          <button
            type="button"
            class="quiet"
            title="Send your last message again, in a copy of this session; files stay as they are"
            onClick={regenerate}
          >
            Regenerate
          </button>
        )}
        {isLast && undo !== undefined && (
          <button
            type="button"
            class="quiet"
            title="Undo your last message and its changes to files"
            onClick={undo}
          >
            Undo…
          </button>
        )}
      </div>
      {error !== undefined && status === 'failed' && <ErrorBox error={error} />}
      {error !== undefined && status === 'limit' && <p class="muted">{error.message}</p>}
      {isLast && (status === 'failed' || status === 'limit' || status === 'timeout') && (
        <button type="button" onClick={resume}>
          Continue from here
        </button>
      )}
    </div>
  );
}

const endings = {
  complete: { mark: '✓', word: 'complete', tone: 'good' },
  max_tokens: { mark: '■', word: 'the response reached its length limit', tone: 'warn' },
  refusal: { mark: '■', word: 'the model declined to respond', tone: 'warn' },
  limit: { mark: '■', word: 'stopped at a limit', tone: 'warn' },
  cancelled: { mark: '■', word: 'cancelled', tone: 'warn' },
  timeout: { mark: '■', word: 'timed out', tone: 'warn' },
  failed: { mark: '✗', word: 'failed', tone: 'bad' },
} as const;

const limitNames: Readonly<Record<LimitName, string>> = {
  turns: 'number of turns',
  toolCalls: 'number of tool calls',
  tokens: 'tokens',
  usd: 'cost',
  no_progress: 'repeated calls',
};

function limitWords(limit: LimitName | undefined): string {
  return limit === undefined ? '' : limitNames[limit];
}

function factsOf(metrics: ExecutionMetrics): string[] {
  const { invocations, toolCalls, totalInputTokens, totalOutputTokens, cacheReadTokens, wasted, usd } =
    metrics;
  const lost = countOf(wasted);
  const cached = cacheReadTokens > 0 ? ` (${share(cacheReadTokens, totalInputTokens)} cached)` : '';
  return [
    duration(metrics.durationMs),
    counted(invocations, 'turn'),
    ...(toolCalls > 0 ? [counted(toolCalls, 'tool')] : []),
    `${tokens(totalInputTokens)} in${cached} ${tokens(totalOutputTokens)} out`,
    ...(lost > 0 ? [`${tokens(lost)} in failed requests`] : []),
    ...(usd === undefined ? ['price unknown'] : [money(usd)]),
  ];
}

/** An error and its fix. */
function ErrorBox({ error }: { readonly error: ErrorData }): VNode {
  const about = [error.provider, error.status, error.code, error.requestId].filter(
    (fact) => fact !== undefined,
  );
  return (
    <div class="error-box" role="alert">
      <p>{error.message}</p>
      <p class="muted">{advice[error.kind]}</p>
      {about.length > 0 && <p class="muted small mono">{about.join(' · ')}</p>}
    </div>
  );
}

const advice: Readonly<Record<ErrorKind, string>> = {
  agent: '',
  tool: '',
  aborted: '',
  auth: 'The key was rejected. Set another key and restart the server, or run: cobbler doctor',
  rate_limit: 'The provider is limiting the request rate. Wait, then continue from here.',
  network:
    "The server cannot reach the provider. Check the server's network connection, then continue from here.",
  timeout: 'The response timed out. Continue from here to try again.',
  limit: 'Restart the server with a higher limit, or send a message to continue.',
  invalid:
    'The request is invalid. Fork the session at a point before the message that caused this, or send a different message.',
};
