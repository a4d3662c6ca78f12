import type { ErrorData, ExecutionMetrics } from '@cobbler/agent';
import type { VNode } from 'preact';
import { counted, duration, money, share, tokens } from '../parts/format.ts';
import { countOf } from '../session/turns.ts';
import type { Note, Stored } from '../session/view.ts';

interface NoteProps {
  readonly item: Note;
  readonly isLast: boolean;
  readonly resume: () => void;
}

/** What happened that is neither said nor answered, as one line or a few. */
export function NoteView({ item: { what }, isLast, resume }: NoteProps): VNode | null {
  switch (what.type) {
    case 'failed':
      return <ErrorBox error={what.error} />;
    case 'compacted':
      return (
        <details class="rule-note">
          <summary>The conversation was made smaller: what came before is now a summary</summary>
          <div class="thoughts">{what.event.summary}</div>
        </details>
      );
    case 'notice':
      return (
        <details class="rule-note">
          <summary>The model repeats the same calls and has been asked to do something else</summary>
          <div class="thoughts">{what.event.text}</div>
        </details>
      );
    case 'stop':
      return what.event.reason === 'limit' ? (
        <p class="muted small">A limit was reached ({limitWords(what.event.limit)}): one closing answer.</p>
      ) : null;
    case 'resumed':
      return null;
    case 'finished':
      return <EndLine event={what.event} isLast={isLast} resume={resume} />;
  }
}

interface EndProps {
  readonly event: Stored<'finished'>;
  readonly isLast: boolean;
  readonly resume: () => void;
}

function EndLine({ event, isLast, resume }: EndProps): VNode | null {
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
      </div>
      {error !== undefined && status === 'failed' && <ErrorBox error={error} />}
      {isLast && (status === 'failed' || status === 'limit' || status === 'timeout') && (
        <button type="button" onClick={resume}>
          Go on from here
        </button>
      )}
    </div>
  );
}

const endings = {
  complete: { mark: '✓', word: 'complete', tone: 'good' },
  max_tokens: { mark: '■', word: 'the answer reached its longest length', tone: 'warn' },
  refusal: { mark: '■', word: 'the model would not go on', tone: 'warn' },
  limit: { mark: '■', word: 'stopped at a limit', tone: 'warn' },
  cancelled: { mark: '■', word: 'cancelled', tone: 'warn' },
  timeout: { mark: '■', word: 'out of time', tone: 'warn' },
  failed: { mark: '✗', word: 'failed', tone: 'bad' },
} as const;

function limitWords(limit: string | undefined): string {
  const words: Readonly<Record<string, string>> = {
    turns: 'number of turns',
    toolCalls: 'number of tool calls',
    tokens: 'tokens',
    usd: 'money',
    no_progress: 'it was going round in circles',
  };
  return words[limit ?? ''] ?? limit ?? '';
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
    ...(lost > 0 ? [`${tokens(lost)} without an answer`] : []),
    ...(usd === undefined ? ['price unknown'] : [money(usd)]),
  ];
}

/** What went wrong, and what to do about it. */
function ErrorBox({ error }: { readonly error: ErrorData }): VNode {
  const about = [error.provider, error.status, error.code, error.requestId].filter(
    (fact) => fact !== undefined,
  );
  return (
    <div class="error-box" role="alert">
      <p>{error.message}</p>
      <p class="muted">{advice[error.kind] ?? ''}</p>
      {about.length > 0 && <p class="muted small mono">{about.join(' · ')}</p>}
    </div>
  );
}

const advice: Readonly<Record<string, string>> = {
  auth: 'The key was refused. Set another one where the server runs and start it again, or run: cobbler doctor',
  rate_limit: 'The provider takes no more requests for the moment. Wait a little and go on from here.',
  network: 'The provider could not be reached from the server. See to its network and go on from here.',
  timeout: 'No answer came in time. Go on from here to ask once more.',
  limit: 'Start the server with a higher limit, or say something to go on.',
  invalid:
    'The request cannot be answered as it is. Fork before the step that led here, or say something else.',
};
