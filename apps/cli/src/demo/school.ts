import { Clock, DAY } from './clock.js';
import { hash, mix, Random, uuidFrom } from './random.js';
import { FIRST_NAMES, LAST_NAMES, type Profile } from './texts.js';

export interface SchoolProfile extends Profile {
  /** The brands of its blog: the two configured ones. */
  brands: readonly string[];
}

export interface Person {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  createdAt: number;
}

export type Status = 'accepted' | 'pending' | 'archived';

export interface Student extends Person {
  status: Status;
  /** Has sessions. Results of students without a session are invisible. */
  attends: boolean;
}

export interface StaffMember extends Person {
  role: 'owner' | 'admin' | 'tutor';
  status: Status;
  teaches: boolean;
  /** The place among the staff. */
  index: number;
}

export interface Subject {
  id: string;
  name: string;
  createdAt: number;
}

/** Days ago: when the first students joined, when this share of all had, and when the last one did. */
const [FOUNDED, GROWN, NEWEST] = [385, 345, 30];
const FIRST = 0.4;

/** Every eighth family has two children here and two parents. */
const FAMILY = 8;

/** The timestamps within ids. They follow the index and do not reveal when a row was created. */
const IDS_FROM = Date.UTC(2024, 0, 1);
const IDS_EVERY_MS = 20_000;

/** Above this size each student gets fewer rows, because the number of students provides the volume. */
const CROWD = 5_000;

/**
 * A demo organization. Stores nothing: computes each value (the 4711th student, the time of the 12th session) from the
 * seed, so that any table can be written on its own and, but for the indexes of lessons that are billed, in bounded memory.
 */
export class School {
  readonly clock: Clock;
  readonly subjects: Subject[];
  readonly staff: StaffMember[];
  readonly teachers: StaffMember[];
  readonly crowded: boolean;
  private readonly salts = new Map<string, number>();

  constructor(
    readonly profile: SchoolProfile,
    readonly students: number,
    readonly homework: number,
    private readonly seed: number,
    readonly now: number,
  ) {
    this.clock = new Clock(profile.timeZone, now);
    this.crowded = students > CROWD;
    const founded = now - 390 * DAY;
    this.subjects = profile.subjects.map((name, index) => ({
      id: this.id('subject', index),
      name,
      createdAt: founded,
    }));
    this.staff = this.hire();
    this.teachers = this.staff.filter((person) => person.teaches && person.status === 'accepted');
  }

  /** A random generator for one record. */
  random(kind: string, index: number): Random {
    return new Random(mix(this.salt(kind) + Math.imul(index, 0x9e3779b1)));
  }

  /** Does not depend on time or size, so that another run finds its rows. */
  id(kind: string, index: number): string {
    return uuidFrom(this.salt(kind), index, IDS_FROM + index * IDS_EVERY_MS);
  }

  /** The time of the `index`th of `count` events that are spread over the days from `fromDays` to `toDays` ago. */
  spread(kind: string, index: number, count: number, fromDays: number, toDays: number): number {
    const share = (index + (this.random(`${kind}-time`, index).next() % 1000) / 1000) / count;
    return Math.floor(this.now - fromDays * DAY + share * (fromDays - toDays) * DAY);
  }

  studentId(index: number): string {
    return this.id('student', index);
  }

  student(index: number): Student {
    const createdAt = this.studentTime(index);
    const { firstName, lastName } = this.named('student', index, this.familyOf(index));
    return {
      id: this.id('student', index),
      firstName,
      lastName,
      email: `${address(firstName, lastName)}.${this.letter}${index}@example.com`,
      createdAt,
      status: index % 16 === 9 ? 'pending' : index % 16 === 12 ? 'archived' : 'accepted',
      attends: this.isActive(index) && index % 10 !== 3,
    };
  }

  /** The first accepted student at or after this index; with `attending`, the first who has sessions. */
  someStudent(index: number, attending = false): number {
    for (let candidate = index % this.students; ; candidate = (candidate + 1) % this.students) {
      if (this.isActive(candidate) && !(attending && candidate % 10 === 3)) return candidate;
    }
  }

  /** Up to `count` different accepted students. */
  someStudents(start: number, count: number, attending = false): number[] {
    const found = new Set<number>();
    for (let step = 0; step < this.students && found.size < count; step++) {
      found.add(this.someStudent(start + step, attending));
    }
    return [...found];
  }

  /** The tutor who has left. */
  get former(): StaffMember {
    return this.staff.find(({ status }) => status === 'archived')!;
  }

  teacherOf(student: number): StaffMember {
    return this.teachers[student % this.teachers.length]!;
  }

  /** Where lessons with somebody take place online. */
  roomOf({ id }: StaffMember): string {
    return `https://meet.example.com/${this.profile.slug}/${id.slice(-12)}`;
  }

  colleagueOf(teacher: StaffMember): StaffMember {
    return this.teachers[(this.teachers.indexOf(teacher) + 1) % this.teachers.length]!;
  }

  subject(index: number): Subject {
    return this.subjects[index % this.subjects.length]!;
  }

  /** The index of the eldest child of the student's family. */
  familyOf(student: number): number {
    return student % FAMILY === 1 ? student - 1 : student;
  }

  parentsOf(student: number): Person[] {
    const family = this.familyOf(student);
    const count = family % FAMILY === 0 ? 2 : family % FAMILY === 5 ? 0 : 1;
    return Array.from({ length: count }, (_, place) => this.parent(family * 2 + place, family));
  }

  /** A parent whom the organization created but has not linked to a child yet. */
  get parentWithoutChild(): Person {
    return this.parent(this.students * 2 + 2, this.students);
  }

  hasPlaceholder(family: number): boolean {
    return family % FAMILY === 3;
  }

  get letter(): string {
    return this.profile.slug[0]!;
  }

  private parent(index: number, family: number): Person {
    const createdAt = this.studentTime(Math.min(family, this.students - 1)) + DAY;
    const id = this.id('parent', index);
    const { firstName, lastName } = this.named('parent', index, family);
    const email = this.hasPlaceholder(family)
      ? `${id}@placeholder.invalid`
      : `${address(firstName, lastName)}.${this.letter}${index}@example.org`;
    return { id, firstName, lastName, email, createdAt };
  }

  /** How many students had joined by then: the first ones in the school's first weeks, the others evenly over the year. */
  joinedBy(daysAgo: number): number {
    const [first, others] = [(FOUNDED - daysAgo) / (FOUNDED - GROWN), (GROWN - daysAgo) / (GROWN - NEWEST)];
    const share = daysAgo > GROWN ? FIRST * first : FIRST + (1 - FIRST) * Math.min(others, 1);
    return Math.max(1, Math.floor(share * this.students));
  }

  private studentTime(index: number): number {
    const share = (index + (this.random('student-time', index).next() % 1000) / 1000) / this.students;
    const days =
      share < FIRST
        ? FOUNDED - (share / FIRST) * (FOUNDED - GROWN)
        : GROWN - ((share - FIRST) / (1 - FIRST)) * (GROWN - NEWEST);
    return Math.floor(this.now - days * DAY);
  }

  private isActive(index: number): boolean {
    return index % 16 !== 9 && index % 16 !== 12;
  }

  private hire(): StaffMember[] {
    const { slug } = this.profile;
    const member = (role: StaffMember['role'], index: number, more: Partial<StaffMember> = {}): StaffMember => {
      const createdAt = this.now - 400 * DAY + index * 1_000;
      const { firstName, lastName } = this.named('staff', index, index + 1_000_000);
      const email = `${address(firstName, lastName)}.${this.letter}t${index}@example.org`;
      const id = this.id('staff', index);
      return { id, firstName, lastName, email, createdAt, role, status: 'accepted', teaches: true, index, ...more };
    };
    const tutors = Math.max(5, Math.ceil(this.students / 25));
    return [
      member('owner', 0, { email: `owner.${slug}@example.org` }),
      member('tutor', 1, this.sharedTutor()),
      ...Array.from({ length: tutors }, (_, index) => member('tutor', index + 2)),
      member('admin', tutors + 2, { teaches: false }),
      member('tutor', tutors + 3, { status: 'archived' }),
      member('tutor', tutors + 4, { status: 'pending' }),
    ];
  }

  /** One person with one login. Pending in the second organization, because an import cannot consent for anybody. */
  private sharedTutor(): Person {
    const createdAt = this.now - 401 * DAY;
    const email = 'sam.whitlock@example.org';
    return {
      id: uuidFrom(hash('shared', this.seed), 0, IDS_FROM),
      firstName: 'Sam',
      lastName: 'Whitlock',
      email,
      createdAt,
    };
  }

  private named(kind: string, index: number, family: number): { firstName: string; lastName: string } {
    return {
      firstName: this.random(`${kind}-name`, index).pick(FIRST_NAMES),
      lastName: this.random('family-name', family).pick(LAST_NAMES),
    };
  }

  private salt(kind: string): number {
    let salt = this.salts.get(kind);
    if (salt === undefined) {
      salt = hash(`${this.profile.slug} ${kind}`, this.seed);
      this.salts.set(kind, salt);
    }
    return salt;
  }
}

function address(firstName: string, lastName: string): string {
  const plain = (name: string) =>
    name
      .normalize('NFD')
      .replace(/[^a-zA-Z]/g, '')
      .toLowerCase();
  return `${plain(firstName)}.${plain(lastName)}`;
}

/** A time in the files' format. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** Makes records one by one, with their indexes. */
export function* each<T>(
  school: School,
  count: number,
  make: (school: School, index: number) => T,
): Generator<[number, T]> {
  for (let index = 0; index < count; index++) yield [index, make(school, index)];
}

/** Three records for each teacher, numbered across all of them. */
export function* perTeacher(school: School): Generator<{ tutor: StaffMember; number: number }> {
  for (const [index, tutor] of school.teachers.entries()) {
    for (const place of [0, 1, 2]) yield { tutor, number: index * 3 + place };
  }
}
