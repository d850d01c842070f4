import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TABLES } from '../import/tables.js';
import { availabilityRows } from './availability-rows.js';
import { blogRows } from './blog-rows.js';
import { conversationRows } from './conversation-rows.js';
import { courseworkRows } from './coursework-rows.js';
import { enquiryRows } from './enquiry-rows.js';
import { lessonRows } from './lesson-rows.js';
import { moneyRows } from './money-rows.js';
import { payRows } from './pay-rows.js';
import { peopleRows } from './people-rows.js';
import type { Rows, TableRows } from './rows.js';
import { rateRows } from './rate-rows.js';
import { School } from './school.js';
import { sessionRows } from './session-rows.js';
import { teachingRows } from './teaching-rows.js';
import { TEXTS } from './texts.js';

/** A demo organization, which must exist before its folder can be imported. */
export interface DemoOrganization {
  name: string;
  slug: string;
  timeZone: string;
  currency: string;
  /** Contains its `<table>.ndjson` files. */
  folder: string;
  /** The login of its owner. The import adds the membership. */
  ownerEmail: string;
  /** The owner's id, which differs between seeds. */
  ownerId: string;
  /** The last student's id, and that of one more: they differ between sizes. */
  lastStudentId: string;
  nextStudentId: string;
}

export interface DemoOptions {
  /** Replaces the files of earlier runs. */
  folder: string;
  /** In all organizations together; at least 10. */
  students: number;
  /** In all organizations together; 10 per student by default. */
  homework?: number;
  /** The same seed and time produce the same bytes. */
  seed: number;
  /** The brands of blog posts; the configuration's defaults if not given. */
  brands?: readonly string[];
  /** The current time; by default the last full hour. */
  now?: Date;
  /** Called at most every 200 ms, and at the end of each file. */
  onProgress?: (table: string, lines: number) => void;
}

export interface DemoSize {
  students: number;
  homework: number;
}

const LEAST = 10;
const MOST = 1_000_000;

/** Parses a size: `small`, `large` or a number of students. @throws RangeError for anything else */
export function sizeOf(text: string): DemoSize {
  if (text === 'small') return { students: 60, homework: 600 };
  if (text === 'large') return { students: 100_000, homework: 1_000_000 };
  const students = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
  if (!(students >= LEAST && students <= MOST)) {
    throw new RangeError(`Must be small, large, or a number of students from ${LEAST} to ${MOST}.`);
  }
  return { students, homework: students * 10 };
}

/** The demo organizations, which are the same for every seed and size. */
export const DEMO_ORGANIZATIONS: readonly { name: string; slug: string }[] = TEXTS.organizations;

/** Where the demo organizations are. */
export const DEMO_PLACES = TEXTS.organizations.flatMap(({ places }) => places);

const ROWS: TableRows = {
  ...peopleRows,
  ...rateRows,
  ...teachingRows,
  ...sessionRows,
  ...availabilityRows,
  ...enquiryRows,
  ...courseworkRows,
  ...lessonRows,
  ...conversationRows,
  ...moneyRows,
  ...payRows,
  ...blogRows,
};

const HOUR = 3_600_000;
const CHUNK_CHARACTERS = 1_000_000;
const PROGRESS_EVERY_MS = 200;

/**
 * Writes a folder for each demo organization in the importer's format, and `organizations.json` with the result. Import
 * the folders in this order, because one tutor works in both organizations.
 */
export async function writeDemo(options: DemoOptions): Promise<DemoOrganization[]> {
  const { folder, students, homework: tasks = students * 10, seed, onProgress } = options;
  const { brands = ['primary', 'secondary'] } = options;
  if (!(students >= LEAST)) throw new RangeError(`The demo needs at least ${LEAST} students`);
  const now = options.now?.getTime() ?? Math.floor(Date.now() / HOUR) * HOUR;
  const second = Math.max(5, Math.round(students * (students > 1_000 ? 0.1 : 0.27)));
  const secondTasks = Math.round((tasks * second) / students);
  const [first, other] = TEXTS.organizations;
  const schools = [
    new School({ ...first, brands }, students - second, tasks - secondTasks, seed, now),
    new School({ ...other, brands }, second, secondTasks, seed, now),
  ];
  const organizations: DemoOrganization[] = [];
  for (const school of schools) {
    const { name, slug, timeZone, currency } = school.profile;
    const target = join(folder, slug);
    await mkdir(target, { recursive: true });
    for (const table of TABLES) {
      const rows = ROWS[table];
      if (!rows) throw new Error(`The demo has no rows for ${table}: add some in apps/cli/src/demo`);
      await writeFileOf(join(target, `${table}.ndjson`), rows(school), (lines) => onProgress?.(table, lines));
    }
    const { email: ownerEmail, id: ownerId } = school.staff[0]!;
    const [lastStudentId, nextStudentId] = [school.studentId(school.students - 1), school.studentId(school.students)];
    organizations.push({
      name,
      slug,
      timeZone,
      currency,
      folder: target,
      ownerEmail,
      ownerId,
      lastStudentId,
      nextStudentId,
    });
  }
  // Leaves out folder paths, so that the file is the same on every machine.
  const listed = organizations.map(({ folder: _, ...organization }) => ({
    ...organization,
    folder: organization.slug,
  }));
  await writeFile(join(folder, 'organizations.json'), `${JSON.stringify(listed, null, 2)}\n`);
  return organizations;
}

async function writeFileOf(path: string, rows: Rows, tell: (lines: number) => void): Promise<void> {
  const file = await open(path, 'w');
  try {
    let [text, lines, reportedAt] = ['', 0, Date.now()];
    for (const row of rows) {
      text += `${JSON.stringify(row)}\n`;
      lines++;
      if (text.length < CHUNK_CHARACTERS) continue;
      await file.appendFile(text);
      text = '';
      if (Date.now() - reportedAt < PROGRESS_EVERY_MS) continue;
      reportedAt = Date.now();
      tell(lines);
    }
    await file.appendFile(text);
    tell(lines);
  } finally {
    await file.close();
  }
}
