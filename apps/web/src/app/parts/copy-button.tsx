import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

interface CopyProps {
  readonly text: () => string;
  readonly label?: string;
}

/** A button that copies text to the clipboard and confirms it. */
export function CopyButton({ text, label = 'Copy' }: CopyProps): VNode {
  const [done, set] = useState(false);
  const copy = async () => {
    await copyText(text());
    set(true);
    setTimeout(() => set(false), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {done ? 'Copied' : label}
    </button>
  );
}

/** Copies text to the clipboard, even if the page is not served securely. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
