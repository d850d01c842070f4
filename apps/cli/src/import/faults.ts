import { EXPORT } from './tables.js';

/** A fault in one line of a file. Line 0 stands for the whole file. */
export interface ImportFault {
  file: string;
  line: number;
  field: string | null;
  message: string;
}

const KEPT = 1_000;
const SHOWN = 20;

/** Collects faults. Keeps the first thousand and counts the rest: a million bad lines have one cause. */
export class Faults {
  private readonly kept: ImportFault[] = [];
  private counted = 0;

  get count(): number {
    return this.counted;
  }

  add(file: string, line: number, field: string | null, message: string): void {
    this.counted++;
    if (this.kept.length < KEPT) this.kept.push({ file, line, field, message });
  }

  /** Counts faults without details. */
  addMore(count: number): void {
    this.counted += count;
  }

  /** @throws ImportError if there are any faults */
  check(): void {
    if (this.counted > 0) throw new ImportError(this.kept.sort(byPlace), this.counted);
  }
}

/** A folder that cannot be imported. Nothing was written. */
export class ImportError extends Error {
  constructor(
    readonly faults: ImportFault[],
    readonly count = faults.length,
  ) {
    const shown = faults.slice(0, SHOWN).map(describe);
    if (count > shown.length) shown.push(`… and ${count - shown.length} more`);
    super(shown.join('\n'));
  }
}

function describe({ file, line, field, message }: ImportFault): string {
  return `${file}${line > 0 ? `:${line}` : ''}: ${field === null ? '' : `${field}: `}${message}`;
}

function byPlace(a: ImportFault, b: ImportFault): number {
  const place = ({ file }: ImportFault) => EXPORT.tables.indexOf(file.split('.')[0]!);
  return place(a) - place(b) || a.line - b.line;
}
