// The types of a script, for the check of the whole repository, which reads no JavaScript.
declare module '*/bundle-size.mjs' {
  /** Returns the compressed bytes of the code that a program loads at its start, and later with `import()`. */
  export function bundleSize(program: {
    readonly contents: string;
    /** The directory that resolves the imports of the program. */
    readonly folder: string;
    readonly external: string[];
  }): Promise<{ readonly atStart: number; readonly later: number }>;
}
