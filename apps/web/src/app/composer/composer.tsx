import type { UserPart } from '@cobbler/agent';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Attachments, textFile } from '../parts/attachments.tsx';
import { size } from '../parts/format.ts';
import { Icon } from '../parts/icons.tsx';

interface ComposerProps {
  /** The key of the stored draft. */
  readonly name: string;
  /** True for a new session: the next message continues it, and the field has the focus. */
  readonly isNew: boolean;
  readonly isRunning: boolean;
  readonly isWaiting: boolean;
  readonly isStopping: boolean;
  /** Sends a message. Rejects if the server did not accept it; the text then stays and can be sent again. */
  readonly say: (content: readonly UserPart[]) => Promise<void>;
  readonly stop: () => void;
  readonly warn: (text: string) => void;
  /** What stands beside the button that attaches files. */
  readonly picker?: ComponentChildren;
  /** A text to start with. */
  readonly given?: GivenMessage;
  readonly endEdit: () => void;
}

/** An example that the user has chosen, or an earlier message to edit. */
export interface GivenMessage {
  readonly text: string;
  readonly attached?: readonly UserPart[];
  /** The message to edit. */
  readonly seq?: number;
}

const nothing: Required<Omit<GivenMessage, 'seq'>> = { text: '', attached: [] };

/** The field for a message. Its content survives a reload of the page. */
export function Composer(props: ComposerProps): VNode {
  const { name, isNew, isRunning, isWaiting, isStopping, say, stop, warn, given, endEdit, picker } = props;
  const [text, setText] = useDraft(name);
  const { attached, setAttached, attach } = useAttachments(warn);
  const field = useRef<HTMLTextAreaElement>(null);
  /** What the user had typed before editing another message. */
  const kept = useRef(nothing);
  const show = (message: typeof nothing) => {
    setText(message.text);
    setAttached(message.attached);
  };
  useFitting(field, text);
  useDrop(attach);
  useEffect(() => {
    if (given === undefined) return;
    kept.current = { text, attached };
    show({ text: given.text, attached: given.attached ?? attached });
    field.current?.focus();
  }, [given]);
  const cancelEdit = () => {
    show(kept.current);
    endEdit();
  };
  useLayoutEffect(() => {
    if (isNew) focusMessage();
  }, [isNew]);
  const content: UserPart[] = text.trim() === '' ? [...attached] : [...attached, { type: 'text', text }];
  const send = async () => {
    if (content.length === 0) return;
    if (JSON.stringify(content).length > maxBytes)
      return warn('The message is too large: the limit is 1 MB. Shorten it or remove an attachment.');
    show(given?.seq === undefined ? nothing : kept.current);
    try {
      await say(content);
    } catch {
      show({ text, attached });
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {given?.seq !== undefined && <Editing seq={given.seq} cancel={cancelEdit} />}
      <Attachments
        parts={attached}
        remove={(at) => setAttached(attached.filter((_, index) => index !== at))}
      />
      <textarea
        ref={field}
        rows={1}
        aria-label="Message"
        id="message"
        placeholder={placeholder(isRunning, isWaiting)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length === 0) return;
          event.preventDefault();
          void attach(pasted);
        }}
        onKeyDown={(event) => {
          // In Safari, only the code tells that Enter ended a composition.
          const isComposing = event.isComposing || event.keyCode === 229;
          if (event.key !== 'Enter' || event.shiftKey || isComposing || !hasKeyboard()) return;
          event.preventDefault();
          void send();
        }}
      />
      <ComposerBar
        isSteering={isRunning && !isWaiting}
        canStop={isRunning}
        isStopping={isStopping}
        isEmpty={content.length === 0}
        stop={stop}
        attach={(list) => void attach(list)}
        picker={picker}
      />
    </form>
  );
}

function Editing({ seq, cancel }: { readonly seq: number; readonly cancel: () => void }): VNode {
  return (
    <p class="editing small">
      Editing message #{seq}. The conversation continues from it in a copy of this session. Files stay as they
      are.
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </p>
  );
}

interface BarProps {
  readonly isSteering: boolean;
  readonly canStop: boolean;
  readonly isStopping: boolean;
  readonly isEmpty: boolean;
  readonly stop: () => void;
  readonly attach: (files: Iterable<File>) => void;
  readonly picker: ComponentChildren;
}

function ComposerBar({ isSteering, canStop, isStopping, isEmpty, stop, attach, picker }: BarProps): VNode {
  const files = useRef<HTMLInputElement>(null);
  return (
    <div class="composer-bar">
      <input
        ref={files}
        type="file"
        multiple
        class="unseen"
        tabIndex={-1}
        aria-label="Files"
        onChange={(event) => {
          attach([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <button type="button" class="quiet" onClick={() => files.current?.click()}>
        <Icon name="clip" /> <span class="words">Attach</span>
      </button>
      {picker}
      <span class="hint muted small">
        {isSteering ? 'Enter steers the run' : 'Enter sends · Shift+Enter new line'}
      </span>
      {canStop && (
        <button type="button" class="stop" disabled={isStopping} onClick={stop}>
          <Icon name="stop" /> <span class="words">{isStopping ? 'Stopping…' : 'Stop'}</span>
        </button>
      )}
      <button type="submit" class="primary" disabled={isEmpty}>
        {isSteering ? 'Steer' : 'Send'}
      </button>
    </div>
  );
}

function placeholder(isRunning: boolean, isWaiting: boolean): string {
  if (isWaiting) return 'Or type a message instead of deciding';
  return isRunning ? 'Type a message to steer the run' : 'Describe a task';
}

interface ComposerAttachments {
  readonly attached: readonly UserPart[];
  readonly setAttached: (parts: readonly UserPart[]) => void;
  readonly attach: (files: Iterable<File>) => Promise<void>;
}

/** Manages the attachments of the message. Reports why a file cannot be sent. */
function useAttachments(warn: (text: string) => void): ComposerAttachments {
  const [attached, setAttached] = useState<readonly UserPart[]>([]);
  const attach = async (list: Iterable<File>) => {
    for (const file of list) {
      try {
        const part = await partOf(file);
        setAttached((before) => [...before, part]);
      } catch (error) {
        warn(error instanceof Error ? error.message : String(error));
      }
    }
  };
  return { attached, setAttached, attach };
}

/** Receives files that are dropped anywhere in the page. Otherwise the browser would open them in its place. */
function useDrop(attach: (files: Iterable<File>) => Promise<void>): void {
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      if (event.type === 'drop') void attach([...event.dataTransfer.files]);
    };
    document.addEventListener('dragover', onDrag);
    document.addEventListener('drop', onDrag);
    return () => {
      document.removeEventListener('dragover', onDrag);
      document.removeEventListener('drop', onDrag);
    };
  }, []);
}

/** False on a touch screen: its keyboard has no Shift+Enter and covers the text. */
function hasKeyboard(): boolean {
  return !matchMedia('(pointer: coarse)').matches;
}

/** Focuses the message field, except on a touch screen. */
export function focusMessage(): void {
  if (!hasKeyboard()) return;
  document.getElementById('message')?.focus({ preventScroll: true });
}

/** Stores a text as long as the browser's tab is open. */
function useDraft(name: string): [string, (text: string) => void] {
  const key = `draft ${name}`;
  const [text, set] = useState(sessionStorage.getItem(key) ?? '');
  useLayoutEffect(() => set(sessionStorage.getItem(key) ?? ''), [key]);
  return [
    text,
    (next) => {
      set(next);
      if (next === '') sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, next);
    },
  ];
}

/** Moves what the user has typed since a session was requested to that session. */
export function moveDraft(from: string, to: string): void {
  const text = sessionStorage.getItem(`draft ${from}`);
  if (text === null) return;
  sessionStorage.setItem(`draft ${to}`, text);
  sessionStorage.removeItem(`draft ${from}`);
}

/** Adjusts the height of a field to its content, up to a limit. */
function useFitting(field: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`;
  }, [text]);
}

/** Maximum size of a message in bytes of JSON; the server accepts one MiB. */
const maxBytes = 1_000_000;

/** Larger images are scaled down first, in bytes. */
const heavyBytes = 300_000;

/** Maximum side length of an image, in pixels; models gain nothing from larger ones. */
const maxSide = 1_568;

/** Reads a file as a part of a message. @throws Error with a message that says what to do. */
async function partOf(file: File): Promise<UserPart> {
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) return await imagePart(file);
  const isPdf = file.type === 'application/pdf';
  // Base64 makes four characters of three bytes.
  const limit = isPdf ? maxBytes * 0.75 : maxBytes;
  if (file.size > limit) throw new Error(`${file.name} is ${size(file.size)}; the limit is ${size(limit)}.`);
  if (isPdf) return { type: 'file', mediaType: file.type, data: await base64(file), name: file.name };
  const text = await file.text();
  if (text.includes('\0')) {
    throw new Error(
      `${file.name} cannot be sent: only images (PNG, JPEG, GIF, WebP), PDFs and text files are supported.`,
    );
  }
  return textFile(file.name, text);
}

async function imagePart(file: File): Promise<UserPart> {
  const { name } = file;
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${name} cannot be read as an image.`);
  });
  if (file.size <= heavyBytes) {
    bitmap.close();
    return { type: 'file', mediaType: file.type, data: await base64(file), name };
  }
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(bitmap.width * scale), Math.round(bitmap.height * scale)];
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const smaller = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85));
  if (smaller === null) throw new Error(`${name} cannot be read as an image.`);
  return { type: 'file', mediaType: 'image/jpeg', data: await base64(smaller), name };
}

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
