import type { Environment, UserPart } from '@cobbler/agent';
import { sniffMediaType } from '@cobbler/agent';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import { partOf } from '../../config/attachment.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** A program and its arguments. */
type Argv = readonly [string, ...string[]];

/** Runs a program and returns what it prints; undefined if it cannot be started. */
export type ReadProgram = (argv: Argv) => Promise<Uint8Array | undefined>;

/** Prints the image in Base64, because PowerShell changes bytes. */
const powershell =
  'Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[Windows.Forms.Clipboard]::GetImage(); if($i){' +
  '$m=New-Object IO.MemoryStream; $i.Save($m,[Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray())}';

const timeoutMs = 10_000;

const programs: Readonly<Record<string, readonly Argv[]>> = {
  wayland: [['wl-paste', '--no-newline', '--type', 'image/png']],
  x11: [['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out']],
  darwin: [
    ['pngpaste', '-'],
    ['osascript', '-e', 'get the clipboard as «class PNGf»'],
  ],
  win32: [['powershell.exe', '-NoProfile', '-NonInteractive', '-STA', '-Command', powershell]],
};

/** Returns the programs that may print the image of the clipboard, in the order in which they are tried. */
function programsFor(env: Environment, platform: string): readonly Argv[] {
  const systems = [
    platform,
    env['WSL_DISTRO_NAME'] && 'win32',
    env['WAYLAND_DISPLAY'] && 'wayland',
    env['DISPLAY'] && 'x11',
  ];
  return systems.flatMap((system) => programs[system ?? ''] ?? []);
}

/**
 * Returns the image in the clipboard as a part of a prompt.
 * @throws UsageError if there is none, or no program that can read it.
 */
export async function clipboardImage(
  name: string,
  read: ReadProgram,
  env: Environment,
  platform: string = process.platform,
): Promise<UserPart> {
  let isReadable = false;
  for (const argv of programsFor(env, platform)) {
    const printed = await read(argv);
    isReadable ||= printed !== undefined;
    const image = printed && decoded(printed);
    if (image !== undefined) return partOf(image, name);
  }
  const other = 'To attach a file instead, type @ and its path, or drop it on the terminal.';
  if (isReadable) throw new UsageError('The clipboard contains no image.', other);
  throw new UsageError(
    'No program on this machine can read images from the clipboard.',
    `Install wl-clipboard (Wayland), xclip (X11) or pngpaste (macOS). ${other}`,
  );
}

/** Returns an image that was printed as it is, as AppleScript prints data, or in Base64. */
function decoded(printed: Uint8Array): Uint8Array | undefined {
  const isImage = (bytes: Uint8Array) => sniffMediaType(bytes)?.startsWith('image/') === true;
  if (isImage(printed)) return printed;
  const text = Buffer.from(printed).toString('latin1').trim();
  const hex = /^\W*data PNGf([0-9A-F]+)\W*$/i.exec(text)?.[1];
  const bytes = hex === undefined ? Buffer.from(text, 'base64') : Buffer.from(hex, 'hex');
  return isImage(bytes) ? bytes : undefined;
}

const passed = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'WSL_INTEROP'];

/** Returns what runs a program of this machine, without the variables that may contain keys. */
export function programReader(env: Environment, cwd: string): ReadProgram {
  return async (argv) => {
    const extra = Object.fromEntries(passed.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
    const chunks: Uint8Array[] = [];
    const onOutput = (chunk: Uint8Array, stream: string) => void (stream === 'stdout' && chunks.push(chunk));
    const options = { argv, cwd, env: childEnvironment(env, extra), timeoutMs, maxOutputBytes: 0, onOutput };
    const { cause } = await superviseProcess(options).ended;
    return cause === 'unstartable' ? undefined : Buffer.concat(chunks);
  };
}

/** Number of images that a chat keeps, so that an earlier prompt can be sent again. */
const maxImages = 20;

/** The images that were pasted into a chat, by the labels that stand for them in the input. */
export class PastedImages {
  readonly #parts = new Map<string, UserPart>();
  readonly #env: Environment;
  readonly #read: ReadProgram;
  #count = 0;

  constructor(env: Environment, read: ReadProgram) {
    this.#env = env;
    this.#read = read;
  }

  /** Keeps the image in the clipboard, and returns its label. Rejects like {@link clipboardImage}. */
  async paste(): Promise<string> {
    this.#count += 1;
    const name = `image ${this.#count}`;
    const image = await clipboardImage(name, this.#read, this.#env);
    const label = `[${name}]`;
    this.#parts.set(label, image);
    for (const oldest of [...this.#parts.keys()].slice(0, -maxImages)) this.#parts.delete(oldest);
    return label;
  }

  /** Returns the images whose labels are in a text. */
  in(text: string): UserPart[] {
    return [...this.#parts].flatMap(([label, image]) => (text.includes(label) ? [image] : []));
  }
}
