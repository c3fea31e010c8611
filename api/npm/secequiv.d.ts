export type Verdict = 'error' | 'equivalent' | 'pass' | 'different' | 'unknown' | 'rejected' | 'fail';

/** See struct secequiv_options in secequiv.h. Missing members have their defaults. */
export interface Options {
  /** Name for messages. */
  name?: string;
  same?: 'raw' | 'behaviour' | 'effect';
  refines?: boolean;
  anyLength?: boolean;
  /** Seconds; default 60. */
  timeout?: number;
  /** MiB for decision diagrams; default 256. The whole module has 512 MiB. */
  maxMemory?: number;
  maxRegions?: number;
  /** Ignore all other inputs: "nr in {read, write}". */
  assume?: string;
  /** The host's architecture; default "x86_64". */
  arch?: string;
  form?: 'raw' | 'raw-be' | 'asm' | 'ddd' | 'c';
  kernel?: string;
  capabilities?: string[];
  filter?: string;
  policyFormat?: 'policy' | 'oci' | 'seccompiler' | 'minijail' | 'minijail-compiler' | 'pfc';
}

export interface Witness {
  /** The 64 bytes of struct seccomp_data, little endian. */
  data: Uint8Array;
  before: number;
  after: number;
}

export interface Result {
  verdict: Verdict;
  /** The verdict is 'equivalent' or 'pass'. */
  holds: boolean;
  /** The command line's text for people. */
  message: string;
  notes: string;
  /** The JSON document of the command of the same name. */
  json: any;
  witness: Witness | null;
}

export class SecequivError extends Error {
  verdict: Verdict;
  json: any;
}

export class Filter {
  readonly instructions: number;
  readonly isPolicy: boolean;
  readonly notes: string;
  readonly program: Uint8Array;
  /** Frees its memory now instead of when this object is collected. */
  free(): void;
}

/** A program in any form, or a policy. */
export type Input = string | Uint8Array | ArrayBuffer | Filter;

export class Secequiv {
  constructor(module: WebAssembly.Module);
  readonly version: string;
  parse(input: Input, options?: Options): Filter;
  prove(before: Input, after: Input, options?: Options): Result;
  proveProperty(program: Input, property: string, options?: Options): Result;
  diff(before: Input, after: Input, options?: Options): Result;
  diffPage(before: Input, after: Input, options?: Options): Result;
  why(program: Input, data: Uint8Array, options?: Options): Result;
  evaluate(program: Input, data: Uint8Array, options?: Options): Result;
  validate(program: Input, options?: Options): Result;
  actions(program: Input, options?: Options): Result;
  cost(before: Input, after?: Input | null, options?: Options & { profile?: string }): Result;
  cache(before: Input, after?: Input | null, options?: Options): Result;
  lint(policy: string | Uint8Array, options?: Options & { strict?: boolean }): Result;
  disassemble(program: Input, options?: Options & { as?: 'asm' | 'ddd' | 'c' }): Result;
  lift(program: Input, options?: Options & { as?: 'policy' | 'normal-form' | 'oci' | 'text' }): Result;
  optimize(program: Input, options?: Options): Result & { program?: Uint8Array };
}

/** Compiles the module: this package's own, or the given one. */
export function load(source?: BufferSource | Response | WebAssembly.Module | Promise<BufferSource | Response>): Promise<Secequiv>;
