import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

export interface Place {
  suburb: string;
  postcode: string;
  lat: number;
  lng: number;
}

/** A demo organization, and what its data is about. */
export interface Profile {
  name: string;
  slug: string;
  timeZone: string;
  currency: string;
  areaCode: string;
  subjects: string[];
  places: Place[];
}

interface Task {
  title: string;
  note: string;
}

type Tasks = Record<'exam' | 'text', Task[]>;

interface Remark {
  text: string;
  by?: 'student' | 'parent';
  field?: string;
  improve?: string;
}

interface Post {
  title: string;
  excerpt: string | null;
  category: string | null;
  tags: string[];
  paragraphs: string[];
}

interface Question {
  topic: string;
  text: string;
  marks: number;
  tags: string[];
}

interface Texts {
  organizations: [Profile, Profile];
  firstNames: string;
  lastNames: string;
  fields: Record<string, string>;
  tasks: Record<string, Tasks> & { any: Tasks };
  remarks: Record<number, Remark[]>;
  peerRemarks: Remark[];
  positiveTags: string[];
  dialogues: Record<string, string[][]>;
  attached: string;
  inbox: string[];
  posts: Post[];
  questions: Question[];
}

/** The names and texts of assets/demo.yaml, which says what each is for. */
export const TEXTS = load(readFileSync(new URL('../../assets/demo.yaml', import.meta.url), 'utf8')) as Texts;

export const FIRST_NAMES = TEXTS.firstNames.split(', ');
export const LAST_NAMES = TEXTS.lastNames.split(', ');

/** Tasks that a tutor could set in this subject. */
export function tasksIn(subject: string, kind: keyof Tasks): Task[] {
  const { tasks, fields } = TEXTS;
  return [...tasks.any[kind], ...tasks[fields[subject]!]![kind]];
}

/** Remarks that this reviewer could make about a lesson in this subject. */
export function remarksOn(subject: string, rating: number, reviewer: 'student' | 'parent'): Remark[] {
  const own = TEXTS.fields[subject];
  return TEXTS.remarks[rating]!.filter(({ by = reviewer, field = own }) => by === reviewer && field === own);
}
