"""Invented logs in the grammar of real ones: one backup told in several languages and by several clients.

Every sentence is a template of the forms that real clients print; names, numbers and times are ours.
"""
# ruff: noqa: E501 - sentences of a log stand on one line

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ENGLISH = {
    "banner": "Recovery Manager: Release 19.0.0.0.0 - Production on Mon Mar 2 01:00:00 2026\nVersion 19.21.0.0.0\n",
    "connected": "connected to target database: ACME (DBID=1234567890)",
    "allocated": "allocated channel: {ch}\nchannel {ch}: SID={sid} device type=DISK",
    "begin": "Starting {op} at {at}",
    "end": "Finished {op} at {at}",
    "set": "channel {ch}: starting {kind} datafile backup set\nchannel {ch}: specifying datafile(s) in backup set",
    "logset": "channel {ch}: starting archived log backup set\nchannel {ch}: specifying archived log(s) in backup set",
    "file": "input datafile file number={file:05d} name={name}",
    "log": "input archived log thread={thread} sequence={sequence} RECID={sequence} STAMP=1226900000",
    "control": "including current control file in backup set",
    "spfile": "including current SPFILE in backup set",
    "piece": "channel {ch}: starting piece {no} at {at}",
    "done": "channel {ch}: finished piece {no} at {at}\npiece handle={handle} tag={tag} comment=NONE",
    "complete": "channel {ch}: backup set complete, elapsed time: {took}",
    "auto": "piece handle={handle} comment=NONE",
    "released": "released channel: {ch}",
    "goodbye": "Recovery Manager complete.",
    "full": "full", "level": "incremental level {level}",
}  # fmt: skip
TENG = ENGLISH | {
    "banner": "Recovery Manager: Release 10.2.0.4.0 - Production on Mon Mar 2 01:00:00 2026\n",
    "allocated": "allocated channel: {ch}\nchannel {ch}: sid={sid} devtype=DISK",
    "set": "channel {ch}: starting {kind} datafile backupset\nchannel {ch}: specifying datafile(s) in backupset",
    "logset": "channel {ch}: starting archive log backupset\nchannel {ch}: specifying archive log(s) in backup set",
    "file": "input datafile fno={file:05d} name={name}",
    "log": "input archive log thread={thread} sequence={sequence} recid={sequence} stamp=1226900000",
    "control": "including current control file in backupset",
    "spfile": "including current SPFILE in backupset",
}
NUMBERED = ENGLISH | {
    "connected": "RMAN-06005: connected to target database: ACME (DBID=1234567890)",
    "allocated": "RMAN-08030: allocated channel: {ch}\nRMAN-08500: channel {ch}: SID={sid} device type=DISK",
    "begin": "RMAN-03090: Starting {op} at {at}",
    "end": "RMAN-03091: Finished {op} at {at}",
    "set": "RMAN-08008: channel {ch}: starting {kind} datafile backup set\n"
    "RMAN-08010: channel {ch}: specifying datafile(s) in backup set",
    "logset": "RMAN-08009: channel {ch}: starting archived log backup set\n"
    "RMAN-08014: channel {ch}: specifying archived log(s) in backup set",
    "file": "RMAN-08522: input datafile file number={file:05d} name={name}",
    "log": "RMAN-08504: input archived log thread={thread} sequence={sequence} RECID={sequence} STAMP=1226900000",
    "control": "RMAN-08011: including current control file in backup set",
    "spfile": "RMAN-08113: including current SPFILE in backup set",
    "piece": "RMAN-08038: channel {ch}: starting piece {no} at {at}",
    "done": "RMAN-08044: channel {ch}: finished piece {no} at {at}\n"
    "RMAN-08530: piece handle={handle} tag={tag} comment=NONE",
    "complete": "RMAN-08540: channel {ch}: backup set complete, elapsed time: {took}",
    "auto": "RMAN-08503: piece handle={handle} comment=NONE",
    "released": "RMAN-08031: released channel: {ch}",
}
CHINESE = {
    "banner": "恢复管理器: Release 19.0.0.0.0 - Production on 星期一 3月 2 01:00:00 2026\nVersion 19.21.0.0.0\n",
    "connected": "连接到目标数据库: ACME (DBID=1234567890)",
    "allocated": "分配的通道: {ch}\n通道 {ch}: SID={sid} 设备类型=DISK",
    "begin": "启动 {op} 于 {at}",
    "end": "完成 {op} 于 {at}",
    "set": "通道 {ch}: 正在启动{kind}数据文件备份集\n通道 {ch}: 正在指定备份集内的数据文件",
    "logset": "通道 {ch}: 正在启动归档日志备份集\n通道 {ch}: 正在指定备份集内的归档日志",
    "file": "输入数据文件: 文件号={file:05d} 名称={name}",
    "log": "输入归档日志线程={thread} 序列={sequence} RECID={sequence} STAMP=1226900000",
    "control": "备份集内包括当前控制文件",
    "spfile": "备份集内包括当前的 SPFILE",
    "piece": "通道 {ch}: 正在启动段 {no} 于 {at}",
    "done": "通道 {ch}: 已完成段 {no} 于 {at}\n段句柄={handle} 标记={tag} 注释=NONE",
    "complete": "通道 {ch}: 备份集已完成, 经过时间:{took}",
    "auto": "段 handle={handle} comment=NONE",
    "released": "释放的通道: {ch}",
    "goodbye": "恢复管理器完成。",
    "full": "全部", "level": "增量级别 {level} ",
}  # fmt: skip
JAPANESE = {
    "banner": "Recovery Manager: Release 19.0.0.0.0 - Production on 月 3月 2 01:00:00 2026\nVersion 19.21.0.0.0\n",
    "connected": "ターゲット・データベース: ACME (DBID=1234567890)に接続されました",
    "allocated": "チャネル: {ch}が割り当てられました\nチャネル{ch}: SID={sid} デバイス・タイプ=DISK",
    "begin": "{op}が開始されました(開始時間: {at})",
    "end": "{op}が完了しました(完了時間: {at})",
    "set": "チャネル{ch}: {kind}データファイル・バックアップ・セットを開始しています\n"
    "チャネル{ch}: バックアップ・セットにデータファイルを指定しています",
    "logset": "チャネル{ch}: アーカイブ・ログ・バックアップ・セットを開始しています\n"
    "チャネル{ch}: バックアップ・セットにアーカイブ・ログを指定しています",
    "file": "入力データファイル・ファイル番号={file:05d} 名前={name}",
    "log": "入力アーカイブ・ログ・スレッド={thread} 順序={sequence} レコードID={sequence} スタンプ=1226900000",
    "control": "バックアップ・セットに現行の制御ファイルを組み込んでいます",
    "spfile": "バックアップ・セットに現行のSPFILEを組み込んでいます",
    "piece": "チャネル{ch}: ピース{no}({at})を起動します",
    "done": "チャネル{ch}: ピース{no}({at})が完了しました\nピース・ハンドル={handle} タグ={tag} コメント=NONE",
    "complete": "チャネル{ch}: バックアップ・セットが完了しました。経過時間: {took}",
    "auto": "ピース・ハンドル={handle} コメント=NONE",
    "released": "チャネル: {ch}がリリースされました",
    "goodbye": "Recovery Managerが完了しました。",
    "full": "フル・", "level": "増分レベル{level}の",
}  # fmt: skip
GERMAN = {
    "banner": "Recovery Manager: Release 19.0.0.0.0 - Production auf Mo Mrz 2 01:00:00 2026\nVersion 19.21.0.0.0\n",
    "connected": "mit Zieldatenbank verbunden: ACME (DBID=1234567890)",
    "allocated": "Zugewiesener Kanal: {ch}\nKanal {ch}: SID={sid}, Gerätetyp=DISK",
    "begin": "{op} wird gestartet bei {at}",
    "end": "{op} wurde beendet bei {at}",
    "set": "Kanal {ch}: {kind} Backup Set für Datendatei wird begonnen\n"
    "Kanal {ch}: Datendateien in Backup Set werden angegeben",
    "logset": "Kanal {ch}: Backup Set für archiviertes Log wird begonnen\n"
    "Kanal {ch}: Archivierte Logs in Backup Set werden angegeben",
    "file": "Dateinummer der Eingabedatei={file:05d}, Name={name}",
    "log": "Thread des archivierten Eingabelogs={thread}, Sequence={sequence}, RECID={sequence}, STAMP=1226900000",
    "control": "Aktuelle Kontrolldatei wird in Backup Set aufgenommen",
    "spfile": "Aktuelle SPFILE wird in Backup Set aufgenommen",
    "piece": "Kanal {ch}: Piece {no} wird auf {at} begonnen",
    "done": "Kanal {ch}: Piece {no} auf {at} beendet\nPiece Handle={handle}, Tag={tag}, Kommentar=NONE",
    "complete": "Kanal {ch}: Backupset abgeschlossen, abgelaufene Zeit: {took}",
    "auto": "Piece Handle={handle}, Kommentar=NONE",
    "released": "Freigegebener Kanal: {ch}",
    "goodbye": "Recovery Manager abgeschlossen.",
    "full": "Vollständiges", "level": "Inkrementelles Level {level}",
}  # fmt: skip
SPANISH = {
    "banner": "Recovery Manager : Release 19.0.0.0.0 - Production on Lun Mar 2 01:00:00 2026\nVersion 19.21.0.0.0\n",
    "connected": "conectado a la base de datos de destino: ACME (DBID=1234567890)",
    "allocated": "canal asignado: {ch}\ncanal {ch}: SID={sid} tipo de dispositivo=DISK",
    "begin": "Empezando {op} a las {at}",
    "end": "Se ha finalizado {op} a las {at}",
    "set": "canal {ch}: iniciando juego de copias de seguridad de archivo de datos {kind}\n"
    "canal {ch}: especificando archivo(s) de datos en el juego de copias de seguridad",
    "logset": "canal {ch}: iniciando juego de copias de seguridad de archive log\n"
    "canal {ch}: especificando archive log(s) en el juego de copias de seguridad",
    "file": "número de archivo de datos de entrada={file:05d} nombre={name}",
    "log": "thread de archive log de entrada={thread} secuencia={sequence} RECID={sequence} STAMP=1226900000",
    "control": "incluido el archivo de control actual en el juego de copias de seguridad",
    "spfile": "incluido el SPFILE actual en el juego de copias de seguridad",
    "piece": "canal {ch}: iniciando parte {no} en {at}",
    "done": "canal {ch}: finalizando parte {no} en {at}\nmanejador de parte={handle} etiqueta={tag} comentario=NONE",
    "complete": "canal {ch}: juego de copias de seguridad terminado, tiempo transcurrido: {took}",
    "auto": "manejador de parte={handle} comentario=NONE",
    "released": "canal liberado: {ch}",
    "goodbye": "Recovery Manager terminado.",
    "full": "completo", "level": "incremental de nivel {level}",
}  # fmt: skip
FRENCH = SPANISH | {
    "connected": "connecté à la base de données cible : ACME (DBID=1234567890)",
    "allocated": "canal affecté : {ch}\ncanal {ch} : SID={sid} type d'unité=DISK",
    "begin": "Démarrage de {op} dans {at}",
    "end": "Fin de {op} à {at}",
    "set": "canal {ch} : démarrage de l'ensemble de sauvegarde de fichiers de données {kind}\n"
    "canal {ch} : spécification du ou des fichiers de données dans l'ensemble de sauvegarde",
    "logset": "canal {ch} : démarrage de l'ensemble de sauvegarde de journaux archivés\n"
    "canal {ch} : spécification des journaux archivés dans l'ensemble de sauvegarde",
    "file": "numéro du fichier de données en entrée={file:05d} nom={name}",
    "log": "thread de journal archivé en entrée={thread} séquence={sequence} RECID={sequence} STAMP=1226900000",
    "control": "inclusion du fichier de contrôle en cours dans l'ensemble de sauvegarde",
    "spfile": "inclusion du fichier SPFILE en cours dans l'ensemble de sauvegarde",
    "piece": "canal {ch} : démarrage de l'élément {no} dans {at}",
    "done": "canal {ch} : élément {no} terminé dans {at}\n"
    "descripteur d'élément={handle} balise={tag} commentaire=NONE",
    "complete": "canal {ch} : ensemble de sauvegarde terminé, temps écoulé : {took}",
    "auto": "descripteur d'élément={handle} commentaire=NONE",
    "goodbye": "Recovery Manager terminé.",
    "full": "complet", "level": "incrémentiel de niveau {level}",
}  # fmt: skip
RUSSIAN = SPANISH | {
    "connected": "подключен к целевой базе данных: ACME (DBID=1234567890)",
    "allocated": "распределенный канал: {ch}\nканал {ch}: SID={sid} тип устройства=DISK",
    "begin": "Запуск {op} в {at}",
    "end": "Завершение {op} в {at}",
    "set": "канал {ch}: запускается набор резервных копий файлов данных {kind}\n"
    "канал {ch}: задание файлов данных в наборе резервных копий",
    "logset": "канал {ch}: запускается набор резервных копий архивного журнала\n"
    "канал {ch}: задание архивных журналов в наборе резервных копий",
    "file": "номер входного файла данных={file:05d} имя={name}",
    "log": "поток входного архивного журнала={thread} последовательность={sequence} RECID={sequence} STAMP=1226900000",
    "control": "включая текущий управляющий файл в набор",
    "spfile": "включая текущий SPFILE в набор",
    "piece": "канал {ch}: запускается фрагмент {no} в {at}",
    "done": "канал {ch}: завершен фрагмент {no} в {at}\nдескриптор фрагмента={handle} тег={tag} комментарий=NONE",
    "complete": "канал {ch}: набор резервных копий завершен, затраченное время: {took}",
    "auto": "дескриптор фрагмента={handle} комментарий=NONE",
    "goodbye": "Recovery Manager завершен.",
    "full": "полный", "level": "инкрементный уровня {level}",
}  # fmt: skip
FINNISH = {word: text.replace("canal", "kaista") for word, text in SPANISH.items()}
"""A language of which no word is known: its word for a channel is learnt where `SID=` stands."""

LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "english": ENGLISH, "10g": TENG, "numbered": NUMBERED, "chinese": CHINESE, "japanese": JAPANESE,
    "german": GERMAN, "spanish": SPANISH, "french": FRENCH, "russian": RUSSIAN, "unknown": FINNISH,
}  # fmt: skip
STAMPS = {
    "2026-03-02 01:{:02d}:{:02d}", "02-MAR-26", "02-MAR-2026 01:{:02d}:{:02d}", "02.03.26 01:{:02d}:{:02d}",
    "03/02/2026 01:{:02d}:{:02d}", "02/03/2026 01:{:02d}:{:02d}", "20260302 01{:02d}{:02d}", "26-03-02",
    "02-3月 -26", "02.Mar.26-01:{:02d}:{:02d}", "2026/03/02 01:{:02d}:{:02d}",
}  # fmt: skip


@dataclass
class Job:
    """One backup: channels with sets; each set has files, the second it begins and its seconds."""

    words: Mapping[str, str] = field(default_factory=lambda: ENGLISH)
    stamp: str = "02-MAR-2026 01:{:02d}:{:02d}"
    lines: list[str] = field(default_factory=list)

    def at(self, second: int) -> str:
        return self.stamp.format(*divmod(second, 60))

    def say(self, word: str, **values: object) -> list[str]:
        return self.words[word].format(**values).splitlines()

    def set(self, channel: str, file: int, begin: int, took: int, level: int | None = 0) -> list[list[str]]:
        """Return the two messages of a set with one data file."""
        kind = self.words["full"] if level is None else self.words["level"].format(level=level)
        end = begin + took
        return [
            [
                *self.say("set", ch=channel, kind=kind),
                *self.say("file", file=file, name=f"/data/ACME/file{file:02d}.dbf"),
                *self.say("piece", ch=channel, no=1, at=self.at(begin)),
            ],
            [
                *self.say("done", ch=channel, no=1, at=self.at(end), handle=f"/backup/ACME_{file}_1", tag="NIGHT"),
                *self.say("complete", ch=channel, took=f"00:{took // 60:02d}:{took % 60:02d}"),
            ],
        ]


def messages_of(job: Job, plan: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, list[list[str]]]:
    """Return the messages of each channel, in its order."""
    found: dict[str, list[list[str]]] = {}
    for channel, sets in plan.items():
        second = 5
        for file, took in sets:
            found.setdefault(channel, []).extend(job.set(channel, file, second, took))
            second += took + 1
    return found


PLAN = {"c1": ((1, 90), (4, 20)), "c2": ((2, 60), (5, 30)), "c3": ((3, 200),)}


def whole_log(
    words: Mapping[str, str] = ENGLISH, stamp: str = "02-MAR-2026 01:{:02d}:{:02d}",
    middle: Sequence[Sequence[str]] | None = None,
) -> list[str]:  # fmt: skip
    """Return the lines of a log that ends well: data files on three channels, archived logs, an autobackup."""
    job = Job(words, stamp)
    channels = messages_of(job, PLAN)
    ordered = middle if middle is not None else [message for name in channels for message in channels[name]]
    auto = "Control File and SPFILE Autobackup"
    return [
        "", *job.say("banner"), "", "Copyright (c) 1982, 2019, Oracle and/or its affiliates.  All rights reserved.", "",
        *job.say("connected"), "",
        *(line for n, name in enumerate(PLAN) for line in job.say("allocated", ch=name, sid=100 + n)), "",
        *job.say("begin", op="backup", at=job.at(4)),
        *(line for message in ordered for line in message),
        *job.say("end", op="backup", at=job.at(210)), "",
        *job.say("begin", op="backup", at=job.at(211)),
        *job.say("logset", ch="c1"), *job.say("log", thread=1, sequence=77), *job.say("log", thread=2, sequence=31),
        *job.say("piece", ch="c1", no=1, at=job.at(212)),
        *job.say("done", ch="c1", no=1, at=job.at(215), handle="/backup/ACME_log_1", tag="LOGS"),
        *job.say("complete", ch="c1", took="00:00:03"),
        *job.say("set", ch="c2", kind=words["full"]), *job.say("control"), *job.say("spfile"),
        *job.say("piece", ch="c2", no=1, at=job.at(212)),
        *job.say("done", ch="c2", no=1, at=job.at(213), handle="/backup/ACME_control_1", tag="NIGHT"),
        *job.say("complete", ch="c2", took="00:00:01"),
        *job.say("end", op="backup", at=job.at(216)), "",
        *job.say("begin", op=auto, at=job.at(217)),
        *job.say("auto", handle="/backup/c-1234567890-20260302-00"),
        *job.say("end", op=auto, at=job.at(218)), "",
        *(line for name in PLAN for line in job.say("released", ch=name)), "", *job.say("goodbye"), "",
    ]  # fmt: skip
