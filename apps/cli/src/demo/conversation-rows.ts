import { DAY } from './clock.js';
import type { Rows, TableRows } from './rows.js';
import { each, iso, type Person, type School } from './school.js';
import { classroom, classroomCount } from './teaching-rows.js';
import { TEXTS } from './texts.js';

const TYPES = ['direct', 'triad', 'group', 'classroom_feed'];
const HOUR = 3_600_000;

interface Seat {
  person: Person;
  role: string;
  left: boolean;
}

interface Conversation {
  id: string;
  type: string;
  classroomId: string | null;
  seats: Seat[];
  createdAt: number;
  /** Whether only some may read the last message. */
  endsInPrivate: boolean;
}

function conversationCount(school: School): number {
  return Math.max(16, school.crowded ? Math.ceil(school.students / 40) : school.students);
}

function conversation(school: School, index: number): Conversation {
  const createdAt = school.spread('conversation', index, conversationCount(school), 200, 3);
  const type = TYPES[index % 4]!;
  // The factor spreads students of every type over the whole school.
  const student = school.someStudent(index * 5 + 1);
  const seat = (person: Person, role: string): Seat => ({ person, role, left: false });
  const pupil = (place: number) => seat(school.student(place), 'student');
  const room = type === 'classroom_feed' ? classroom(school, (index >> 2) % classroomCount(school)) : null;
  const teacher = room?.teacher ?? school.teacherOf(student);
  // The shared tutor is pending in the second organization, so their conversation might belong to the first one only.
  const [owner, shared] = school.staff;
  let seats = [seat(teacher === shared ? owner! : teacher, 'teacher')];
  if (room) seats.push(...room.students.map(pupil));
  else if (type === 'group') {
    seats.push(...school.someStudents(student, 3).map(pupil), seat(school.staff.at(-3)!, 'teacher'));
  } else {
    seats.push(pupil(student));
    if (type === 'triad') seats.push(...school.parentsOf(student).map((person) => seat(person, 'parent')));
  }
  // In some, one person has left. In the sixth, everybody has, so no organization can see it.
  if (index === 5) seats = seats.map((one) => ({ ...one, left: true }));
  else if (index % 10 === 8) seats[1]!.left = true;
  const id = school.id('conversation', index);
  return { id, type, classroomId: room?.id ?? null, seats, createdAt, endsInPrivate: index % 6 === 2 };
}

function* conversations(school: School): Rows {
  for (const [index, { id, type, classroomId, createdAt }] of each(school, conversationCount(school), conversation)) {
    const title = type === 'group' ? `Study group ${index}` : type === 'classroom_feed' ? 'Class announcements' : null;
    yield { id, type, classroom_id: classroomId, title, created_at: iso(createdAt), updated_at: iso(createdAt) };
  }
}

function* conversationParticipants(school: School): Rows {
  for (const [index, { id: conversation_id, seats, createdAt }] of each(
    school,
    conversationCount(school),
    conversation,
  )) {
    for (const [place, { person, role, left }] of seats.entries()) {
      yield {
        id: school.id('seat', index * 20 + place),
        conversation_id,
        user_id: person.id,
        role,
        joined_at: iso(createdAt),
        left_at: left ? iso(createdAt + 2 * DAY) : null,
      };
    }
  }
}

/** Three or four messages per conversation; some have none yet. */
function* messages(school: School): Rows {
  for (const [index, { id: conversation_id, type, seats, createdAt, endsInPrivate }] of each(
    school,
    conversationCount(school),
    conversation,
  )) {
    if (index % 14 === 13) continue;
    const random = school.random('message', index);
    const count = 3 + (index % 2);
    const dialogue = random.pick(TEXTS.dialogues[type]!);
    let first: string | null = null;
    for (let place = 0; place < count; place++) {
      const at = createdAt + (place + 1) * HOUR + random.int(0, 3_599) * 1_000;
      const id = school.id('message', index * 8 + place);
      const system = place === 0 && type === 'group';
      const attachment = place === 2 && index % 3 === 0 ? (index % 2 === 0 ? 'image' : 'file') : 'text';
      yield {
        id,
        conversation_id,
        sender_id: system ? null : seats[place % seats.length]!.person.id,
        content: attachment === 'text' ? dialogue[place] : TEXTS.attached,
        message_type: system ? 'system' : attachment,
        visibility:
          endsInPrivate && place === count - 1 ? (index % 4 === 0 ? 'student_only' : 'parent_only') : 'everyone',
        reply_to_id: place === 1 ? first : null,
        created_at: iso(at),
      };
      first ??= id;
    }
  }
}

export const conversationRows: TableRows = {
  conversations,
  conversation_participants: conversationParticipants,
  messages,
};
