import { visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { duration } from '../parts/format.ts';
import { scrollArea } from '../parts/hooks.tsx';
import type { BackgroundCommand } from '../session/api.ts';
import { api } from '../session/api.ts';
import type { Commands } from '../session/commands.ts';
import { commandsEveryMs, isRunning } from '../session/commands.ts';

interface CommandsProps {
  readonly sessionId: string;
  readonly commands: Commands;
  readonly stop: (id: string) => Promise<void>;
}

/** The commands in the background, with their output as it arrives. */
export function CommandsPanel({ sessionId, commands, stop }: CommandsProps): VNode {
  const { items } = commands;
  if (items.length === 0) return <p class="muted none">No command was started in the background.</p>;
  return (
    <>
      {items.map((one, index) => (
        <CommandRow
          key={one.id}
          sessionId={sessionId}
          command={one}
          isFirst={index === 0}
          stop={() => stop(one.id).finally(commands.reload)}
        />
      ))}
    </>
  );
}

interface RowProps extends OutputProps {
  readonly isFirst: boolean;
  readonly stop: () => Promise<void>;
}

/** A command. Its output is loaded only while it is shown. */
function CommandRow({ sessionId, command, isFirst, stop }: RowProps): VNode {
  const [isOpen, setOpen] = useState(isFirst);
  const runs = isRunning(command);
  return (
    <details
      class="file background"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span class="path">{visibleText(command.command, 'name')}</span>{' '}
        <span class={runs ? 'running' : 'muted'}>
          {runs ? '● running' : visibleText(command.status, 'name')} · {duration(command.durationMs)}
        </span>
      </summary>
      {isOpen && <Output sessionId={sessionId} command={command} />}
      {isOpen && runs && <StopButton stop={stop} />}
    </details>
  );
}

function StopButton({ stop }: { readonly stop: () => Promise<void> }): VNode {
  const [isStopping, setStopping] = useState(false);
  const press = () => {
    setStopping(true);
    void stop().catch(() => setStopping(false));
  };
  return (
    <button type="button" class="danger" disabled={isStopping} onClick={press}>
      {isStopping ? 'Stopping…' : 'Stop'}
    </button>
  );
}

interface OutputProps {
  readonly sessionId: string;
  readonly command: BackgroundCommand;
}

/** The output of a command, which follows its end while the user is there. */
function Output({ sessionId, command }: OutputProps): VNode {
  const [text, setText] = useState('');
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const runs = isRunning(command);
  useEffect(() => {
    const load = () =>
      void api.command(sessionId, command.id).then(
        ({ output = '' }) => setText(output),
        () => undefined,
      );
    load();
    const timer = runs ? setInterval(load, commandsEveryMs) : undefined;
    return () => clearInterval(timer);
  }, [sessionId, command.id, runs]);
  useLayoutEffect(() => {
    const { current } = box;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={box}
      class="output"
      {...scrollArea(`Output of ${command.id}`)}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 8;
      }}
    >
      {visibleText(text.trimEnd()) || 'No output yet.'}
    </pre>
  );
}
