import { statSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { UserPart } from '@cobbler/agent';
import { partOf, readAttachment } from '../config/attachment.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Converts an editor's prompt to parts: the text with file names, then the files.
 * @throws UsageError for audio, and for a file that cannot be read or sent.
 */
export function promptParts(blocks: readonly ContentBlock[], folder: string): UserPart[] {
  let words = '';
  const more: UserPart[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words += block.text;
        break;
      case 'image':
        more.push({ type: 'file', mediaType: block.mimeType, data: block.data });
        break;
      case 'resource_link': {
        const path = filePath(block.uri);
        words += path === undefined ? `[${block.name}](${block.uri})` : `@${nameIn(folder, path)}`;
        if (path !== undefined && isFile(path)) more.push(readAttachment(nameIn(folder, path), folder));
        break;
      }
      case 'resource': {
        const { resource } = block;
        const name = nameIn(folder, filePath(resource.uri) ?? resource.uri);
        words += `@${name}`;
        more.push(partOf('text' in resource ? Buffer.from(resource.text) : decode(resource.blob), name));
        break;
      }
      default:
        throw new UsageError('Audio cannot be sent to the model.', 'Send a transcript as text.');
    }
  }
  return words === '' ? more : [{ type: 'text', text: words }, ...more];
}

function filePath(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    return url.protocol === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the name that the model uses for a file in the directory. */
function nameIn(folder: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const name = relative(folder, path);
  return name === '' || name.startsWith('..') ? path : name;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function decode(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}
