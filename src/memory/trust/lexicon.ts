// Words by what they do to a sentence, in six languages. A star stands for any ending. `drop` tells nothing of its own;
// the classes below it turn a sentence round, limit it, count or order it; the groups at the end are words that say the
// same. A word that is in no group says only itself. Opposites are never in one group.

/** What a word does, where it is no content. */
const functions: Readonly<Record<string, string>> = {
  drop: `
    a an the this that these those it its they them their he she his her there here i me my mine we us our ours you your
    is are be been being am was were has have had do does did done will would shall should must need needs needed can may
    want wants wanted like likes liked prefer* preference* expect* wish* please just really also too very quite simply
    user  users project repo repository codebase here remember note keep mind know ok okay hi hello hey thanks thank so as  to of
    use uses used using usage make makes made making go goes going get gets take takes handle handles work works working
    always everytime "every time" "each time" whenever "from now on" "in future" "in the future" "going forward" generally
    thing things stuff way ways matter kind sort lot let lets  rule rules reason why how apply applies applied what which who
    whose where if when while case cases per  said say says  tell told  mention* stated confirm*
    supposed agreed decid* decision* policy practice convention* general ones  own actually basically honestly btw
    "by the way" definitely certainly sure currently now right well  such   about  performed carried
    "set up" "has to" "have to" "ought to" "needs to" requires require required ensure*  "make sure" "be sure" team 
    der die das den dem des ein eine einen einem einer eines dies dieser diese dieses diesem diesen es er sie ihr ihm ihnen sein seine
    ich mich mir mein meine meinen meinem wir uns unser unsere unserem unseren du dich dir man ist sind war waren wird werden wurde
    hat haben habe hatte soll sollen sollte sollten muss müssen musst kann können darf dürfen möchte möchten will wollen bevorzug*
    bitte immer jedesmal "jedes mal" "ab jetzt" "ab sofort" künftig zukünftig grundsätzlich auch  zu zum zur dass daß so wie als
    nutzer benutzer anwender nutzerin projekt repo repository merk* merke beachte verwend* benutz* nutz* nimm nehmen gebrauch* machen mach gemacht
    wenn falls sobald wo was wer welche welcher welches hier da dort halt mal ja doch eben eigentlich einfach übrigens sag* gesagt
    wünsch* wunsch erwart* gilt gelten regel grund team legt wert gern gerne lieber stets jeweils an  werd'
    le la les un une des du de d' l' ce cet cette ces ça c' il elle ils elles on je j' me m' moi mon ma mes nous notre nos tu te t' toi ton ta tes
    vous votre vos se s' est sont être était a ont avoir ai as avons doit doivent devons dois faut peut peuvent pouvoir veux veut voulons souhait*
    préfèr* préfér* aime aimerait utilisateur utilisatrice projet dépôt utilis* emploi* employ* fais fait faire faites toujours systématiquement désormais dorénavant
    merci svp "s'il te plaît" "s'il vous plaît" "à chaque fois" "chaque fois" "à partir de maintenant"  à au aux que qu' qui quoi où quand lorsque si comme aussi très
    note retiens souviens-toi règle raison dit demandé équipe   ne n' bien  là donc
    el los las lo una unos unas del al este esta estos estas esto eso ese esa su sus mi mis nuestro nuestra nuestros nuestras tu tus yo él ella ellos
    nos se le les es son está están ser estar fue era ha han hay he hemos debe deben debemos hay que tiene tienen tenemos puede pueden quiere quiero queremos
    prefiere prefiero preferimos desea usuario usuaria proyecto repositorio usa usar uses usen usamos use utiliza utilizar utilice emplea emplear haz hacer hace hagan siempre
    "por favor" "cada vez" "a partir de ahora" "de ahora en adelante"   que quien cuando si como también muy recuerda nota regla razón motivo dijo pidió equipo gusta
    l d n qu j c s m t yet still too est-ce lui brauch* braucht gibt geben gib noch sonst trägt donner donne lieu dar da dé en 一定 由 外
    请 請 麻烦 记住 記住 注意 总是 始终 一律 一直 以后 今后 从现在起 每次 都 就 要 会 应该 应当 应 需要 需 必须 得 想 想要 希望 偏好 喜欢 更喜欢 倾向于 用户 使用者 我们 我 你 他 她 它 们 这个 这 那 该
    项目 仓库 团队 的 地 了 着 是 有 在 里 中 上      使用 采用 用 进行 做 时候 时 如果 的话 当 把 将 对 也 还 吧 呢 啊 规则 原因 说 说过 要求 一下 一个 个 以 为 被 由 让 给 去 来 请用 其 很 所
    常に いつも 必ず 毎回 今後 これから してください ください してほしい ほしい 欲しい たい したい 希望 好む 好み 好き ユーザー 私 僕 俺 我々 私たち チーム プロジェクト リポジトリ この その あの これ それ こと もの とき 時 場合 際
    使う 使って 使い 使用する 使用 使わ 用いる 利用する 利用 行う 行って 行い する して した します しました です ます だ である ある いる ため よう 方 方針 ルール 理由 覚えて べき 必要 言った 言って お願い 是非 ぜひ  
  `,
  neg: `
    not no never none nothing nobody neither nor don't cannot won't avoid* refrain* abstain* stop* skip* ban* forbid* prevent*   "hands off" "stay away from" "steer clear of" refus* reject* omit*
    nicht kein keine keinen keinem keiner keines nie niemals nichts weder vermeid* verzicht* unterlass* keinesfalls "auf keinen fall" überspring* "finger weg von" verbiet*
    pas jamais aucun aucune rien ni évit* evit* abstenir abstiens interdi* refus* non
    nunca jamás nada ningún ninguna ninguno tampoco evit* abstener* prohib* rechaz* ni
    不 不要 不得 不能 不可 不可以 不许 不准 不再 不用 不使用 不应 不应该 不应当 别 别再 勿 请勿 没 没有 无 無 未 禁止 严禁 避免 切勿 拒绝 不是 非 绝不 决不 从不 不会 不想 不希望 不喜欢
  `,
  negpost: `
    forbidden prohibited "not allowed" "not permitted" "off limits" off-limits banned disallowed unwanted taboo "out of the question"
    verboten untersagt tabu unerwünscht "nicht erlaubt" "nicht gestattet" proscrit proscrite prohibido prohibida prohibidos vetado
    ない なかった ません ませんでした ないで しない しません しないで ぬ ず せず 禁止 避け 避ける 避けて やめ やめて やめる 不可 不要 なし 使わない 使わず いけない いけません ダメ だめ 控え 控える
  `,
  and: `and und et y e 和 与 及 并 并且 と また そして`,
  contrast: `"instead of" "rather than" statt anstatt anstelle "au lieu de" "au lieu d" "plutôt que" "en vez de" "en lugar de" 而不是 而非`,
  contrastpost: `ではなく じゃなく でなく でなくて`,
  only: `"nowhere else" "sonst nirgends" "nirgendwo sonst" "nulle part ailleurs" only solely exclusively nur ausschließlich lediglich seulement uniquement exclusivement "ne que" solo sólo solamente únicamente exclusivamente 才 只 只有 仅 仅限 只能 只在 だけ のみ しか 限り 限る`,
  except: `except excepting excluding "other than" "apart from" "aside from" besides unless exception* außer ausgenommen ausnahme* "es sei denn" sauf excepté hormis exception* salvo excepto "a menos que"  excepción* 除了 除 除非 例外 以外 除外 を除く 除き 除いて`,
  some: `some sometimes often usually mostly most many several few occasionally partly rarely typically manche manchmal oft meist* meistens einige viele selten teilweise gelegentlich üblicherweise certains certaines parfois souvent quelques plupart généralement rarement algunos algunas "a veces" menudo muchos varias varios normalmente mayoría raramente 有些 有时 某些 部分 经常 通常 大多 一些 偶尔 很少 一部 たまに 時々 ときどき 多く よく いくつか 大抵 ほとんど 普段 通常`,
  all: `all every everything everyone each any anything anyone anywhere entire whole both alle alles allen aller jede jeder jedes jeden jedem sämtliche gesamt* ganze* beide tous toutes tout toute chaque n'importe  todos todas todo toda cada cualquier cualquiera ambos 所有 全部 任何 每个 每 一切 全 すべて 全て 全部 全 あらゆる どんな 各 毎 いかなる`,
  maybe: `"not decided" "not yet" "noch nicht" unklar maybe perhaps might possibly probably could considering consider thinking wonder* guess unsure "not sure" option idea experiment* tentative* "what if" suppose* likely vielleicht eventuell evtl möglicherweise wahrscheinlich könnte* überleg* vermutlich erwäg* "nicht sicher" idee peut-être éventuellement probablement pourrait pourrions envisag* hésite* idée quizás quizá "tal vez" posiblemente probablemente podría podríamos consider* pensando duda* 也许 可能 或许 大概 考虑 想过 不确定 似乎 也行 多分 たぶん かもしれ 検討 おそらく 考え中 迷って 思案 可能性`,
  up: `"at least" minimum min least "more than" above over "or more" exceeding exceeds  mindestens "mehr als"  minimum "au moins" minimum "plus de" "plus d'" "al menos" "por lo menos" mínimo "más de" 至少 最少 以上 超过 不少于 少なくとも 最低 超え 超える`,
  down: `"not more" "nicht mehr als" "pas plus" "at most" maximum max "less than" under below "up to" "no more than" "not more than" within shorter fewer höchstens maximal "weniger als" unter "bis zu" maximum "au plus" "moins de" maximum "como máximo" "menos de" máximo "a lo sumo" 最多 至多 以下 以内 不超过 少于 最大 未満 多くても`,
  before: `before "prior to" "ahead of" bevor vor vorher avant "avant de" "antes de" "antes de que" antes 前 之前 以前 前に `,
  after: `after afterwards once following nach nachdem après "après avoir" "une fois" después tras "después de" "una vez" 后 之后  後 後に てから  たら`,
  without: `without ohne sans sin  なしで なしに ないまま せずに ずに 未经 没经过 不经`,
  until: `until till bis jusqu* hasta 直到 为止 まで までは`,
  sequence: `then first firstly danach dann zuerst erst puis ensuite d'abord luego primero  先 然后 再 まず 先に それから`,
  because: `because  due  weil  wegen nämlich car parce puisque porque "ya que" debido pues 因为 由于 毕竟 因 ので  だから なぜなら`,
  nolonger: `"no longer" "not anymore" anymore "any more" formerly previously "used to" "nicht mehr" früher ehemals "ne plus" autrefois  anteriormente "ya no" antiguamente 曾经 过去   かつて 以前は もう`,
  or: `or oder ou o u 或 或者 还是 または もしくは あるいは`,
  hear: `"schlägt vor" "schlug vor" says  thinks thought believes claims suggests suggested recommends recommended proposes proposed argues argued insists insisted according reportedly heard sagt meint findet behauptet schlägt empfiehlt empfahl laut zufolge pense  suggère suggéré propose proposé affirme selon recommande dice cree piensa sugiere sugirió propone propuso recomienda según afirma opina 认为 觉得 建议 据说 说是 听说 声称 提议 と言 言う 曰く によると によれば 提案 勧め らしい そうだ と思`,
  prep: `in on at for with by into onto inside during from through against between via   in im ins auf bei für mit durch von aus beim  gegen zwischen während über dans sur pour avec chez par en lors entre pendant en con para por sobre durante entre desde 从 到 往 向 于 で に へ を が は と の から  も`,
}

/** Words that say the same; a star stands for any ending. Behind ~ they may be left out: others say what is done. */
const groups: readonly string[] = [
  'push pushes pushed pushing pushen gepusht pousse* pousser pushea* empuja* subir sube 推送 推 プッシュ',
  'deploy* release* ship ships shipped shipping rollout "roll out" ausliefer* ausroll* deploye* veröffentlich* déploi* déploy* livr* publi* despleg* desplieg* lanz* 部署 上线 发布 發布 デプロイ リリース 公開',
  'commit* einchecken committe* commite* valider commitea* confirmar 提交 コミット',
  'merge* merging zusammenführ* mergen fusionn* fusion* merger fusiona* 合并 マージ',
  'test* prüf* prueba* essai* 测试 テスト 試験',
  '~ run runs ran running execute* executing laufen lauf lass ausführ* ausgeführt lanc* exécut* tourne* ejecut* corre* 运行 跑 执行 実行 走らせ 回す 回し 流す 流し',
  'review* code-review begutacht* überprüf* relecture relu* relire relis revue* revis* 评审 审查 审核 review レビュー 査読 確認',
  'approve* approval* sign-off "sign off" "go ahead" ok genehmig* freigabe* freigeb* freigegeben zustimm* approuv* approbation* accord aprob* aprueb* visto 批准 同意 许可 允许 承認 許可 了承',
  'ask asks asked asking consult* "check with" frag* fragen gefragt nachfrag* rückfrag* rücksprache demande* demander consulte* pregunt* consult* 问 询问 请示 征求 确认 聞く 聞い 尋ね 相談 確認し 訊',
  'delete* deleting remove* removing removal erase* lösch* entfern* supprim* suppression effac* enlev* borr* elimin* quit* 删除 删 移除 去掉 削除 消す 消し 消さ 取り除',
  '~ add adds added adding include* including insert* hinzufüg* ergänz* aufnehmen ajout* inclu* añad* agreg* 添加 加 增加 加入 追加 加え',
  '~ write* writing written wrote schreib* geschrieben verfass* écri* rédig* escrib* redact* 写 编写 撰写 书写 書く 書い 書き 記述 記載',
  'answer* reply replies replied respond* response* antwort* répon* réponse* respond* respuesta* contest* 回答 回复 答复 答 返答 返事 返信 応答 答え',
  'database* db datenbank* "base de données" "bases de données" bdd "base de datos" 数据库 資料庫 データベース',
  'file* datei* fichier* archivo* fichero* 文件 档案 ファイル',
  'folder* director* verzeichnis* ordner* dossier* répertoire* carpeta* directorio* 目录 文件夹 フォルダ フォルダー ディレクトリ',
  'branch* zweig* branche* rama* 分支 ブランチ',
  'server* serveur* servidor* 服务器 サーバー サーバ',
  'production prod productive produktion* produktiv* producción 生产 生产环境 线上 本番 本番環境',
  'staging stage vorabumgebung 预发 预发布 预发环境 ステージング',
  'meeting* call besprechung* termin* treffen réunion* reunión* reuniones 会议 开会 例会 会議 ミーティング 打ち合わせ',
  'comment* kommentar* commentaire* comentario* 注释 评论 コメント',
  'short brief concise terse succinct kurz* knapp* bref brève concis* court* courte* breve* conciso* corto* corta* 简短 简洁 简练 短 簡潔 手短',
  'detail* ausführlich* einzelheit* détail* detall* 详细 细节 詳細 詳しく 細部',
  'long lengthy lang lange langen longue* largo* larga* 长 长篇 冗长 長い 長文',
  'english englisch* anglais* inglés inglesa 英语 英文 英語',
  'german deutsch* allemand* alemán* 德语 德文 ドイツ語',
  'french französisch* français* francés* 法语 法文 フランス語',
  'spanish spanisch* espagnol* español* 西班牙语 西语 スペイン語',
  'chinese chinesisch* chinois* chino* 中文 汉语 中国語',
  'japanese japanisch* japonais* japonés* 日语 日文 日本語',
  'monday* montag* lundi* lunes 周一 星期一 礼拜一 月曜 月曜日',
  'tuesday* dienstag* mardi* martes 周二 星期二 火曜 火曜日',
  'wednesday* mittwoch* mercredi* miércoles 周三 星期三 水曜 水曜日',
  'thursday* donnerstag* jeudi* jueves 周四 星期四 木曜 木曜日',
  'friday* freitag* vendredi* viernes 周五 星期五 金曜 金曜日',
  'saturday* samstag* samedi* sábado* 周六 星期六 土曜 土曜日',
  'sunday* sonntag* dimanche* domingo* 周日 星期日 星期天 日曜 日曜日',
  'weekend* wochenende* "fin de semana" "fines de semana" week-end* 周末 週末',
  'january januar janvier enero 一月',
  'february februar février febrero 二月',
  'march märz mars marzo 三月',
  'april avril abril 四月',
  'june juni juin junio 六月',
  'july juli juillet julio 七月',
  'august août agosto 八月',
  'september septembre septiembre 九月',
  'october oktober octobre octubre 十月',
  'november novembre noviembre 十一月',
  'december dezember décembre diciembre 十二月',
  'day days tag tage tagen täglich jour jours día días 天 日',
  'daily everyday "every day" "each day" "jeden tag" quotidien* "chaque jour" "tous les jours" diario* diaria* "cada día" "todos los días" 每天 每日 毎日',
  'week weeks woche wochen semaine semaines semana semanas 周 星期 週 週間',
  'weekly "every week" wöchentlich "jede woche" hebdomadaire* "chaque semaine" semanal* "cada semana" 每周 毎週',
  'month months monat monate monaten mois mes meses 月 个月 ヶ月 か月',
  'year years jahr jahre jahren an ans année* año años 年',
  'hour hours stunde stunden heure heures hora horas 小时 時間',
  'minute* min. minuten minuto* 分钟 分 分間',
  'second seconds sekunde* seconde* segundo* 秒',
  'morning* vormittag* früh morgens matin* mañana* 早上 上午 朝 午前',
  'evening* abend* soir* tarde* 晚上 夕方',
  'night* nacht* nuit* noche* 夜里 夜间 夜',
  'noon mittag* midi mediodía 中午 正午 昼',
  'afternoon* nachmittag* après-midi 下午 午後',
  'tomorrow morgen demain 明天 明日',
  'yesterday gestern hier 昨天 昨日',
  'today heute aujourd* hoy 今天 今日',
  'deadline* "due date" due frist* abgabe* stichtag échéance* délai* plazo* vence* límite 截止 截止日期 期限 締め切り 締切',
  'start* begin* beginn* anfang* start* commenc* début* empie* empez* comienz* comenz* inici* 开始 始め 始ま 開始',
  'end ends ended ending finish* ende enden fin finir termin* acab* 结束 終わ 終了',
  'name* named called call heißt heißen genannt namens appell* nomm* llama* nombre* 叫 叫做 名字 名称 名为 名前 という 呼ぶ 呼ば',
  '~ run-in live lives located lieg* steh* situ* trouve encuentra 位于 ある場所',
  'port* puerto* 端口 ポート',
  'password* kennwort* passwort* "mot de passe" contraseña* 密码 パスワード',
  'key* schlüssel* clé* clef* clave* llave* 密钥 キー',
  'variable* variablen 变量 変数',
  'function* funktion* fonction* función funciones 函数 関数',
  'class classes klasse* classe* clase* 类 クラス',
  'type* typ typen tipo* 类型 型',
  'error* fehler* erreur* error* errores 错误 エラー',
  'bug* defect* 缺陷 バグ 不具合',
  'log logs logging logged protokoll* journal* registr* 日志 ログ',
  'message* nachricht* messages mensaje* 消息 信息 メッセージ',
  'version* versión* 版本 バージョン',
  'update* upgrade* aktualisier* "mettre à jour" "mise à jour" actualiz* 更新 升级 アップデート',
  'dependenc* package* abhängigkeit* paket* dépendance* paquet* dependencia* paquete* 依赖 依赖包 包 依存 パッケージ',
  'install* installier* instal* 安装 インストール 入れる',
  'format* formatier* formate* 格式 格式化 フォーマット 整形',
  'lint* linter 检查器 リンター リント',
  'tab tabs tabulator* tabulation* tabulador* tabulación 制表符 タブ',
  'space spaces leerzeichen espace* espacio* 空格 スペース',
  'indent* einrück* indentation sangr* 缩进 インデント 字下げ',
  'frontend 前端 フロントエンド',
  'backend 后端 バックエンド',
  'client* kunde* kunden kundin client* cliente* 客户 客户端 顧客 クライアント',
  'colleague* coworker* kolleg* collègue* compañer* coleg* 同事 同僚',
  'boss manager chef chefin vorgesetzt* patron responsable jefe jefa 老板 经理 上司',
  'people person persons leute person* personne* gente persona* 人',
  'summar* zusammenfass* résum* resum* 总结 摘要 まとめ 要約',
  'list lists liste listen lista* 列表 清单 リスト 一覧',
  'table* tabelle* tableau* tabla* 表格 表',
  'diagram* diagramm* schéma* diagrama* 图 図',
  'emoji* smiley* 表情 表情符号 絵文字',
  'explain* explanation* erklär* erläuter* expli* 解释 说明 説明',
  'question* pregunta* 问题 質問',
  'change* touch* anfass* touche* toca* 动 modif* edit* alter* änder* verändern bearbeit* chang* modifi* cambi* 修改 更改 改动 改 变更 変更 修正 編集 変え',
  '~ create* creating erstell* anleg* créer crée* création crea* 创建 新建 建 作成 作る 作り 作っ',
  'check* verify verif* validate* kontrollier* verifizier* vérifi* contrôl* comprueb* comprob* verifi* 检查 验证 核对 チェック 検証',
  'open öffn* ouvr* abr* 打开 开 開く 開け',
  'close* schließ* ferm* cerr* cierr* 关闭 关 閉じ',
  'enable* activate* "turn on" "switch on" aktivier* einschalt* activ* 启用 开启 打开启 有効',
  'disable* deactivate* "turn off" "switch off" deaktivier* abschalt* ausschalt* désactiv* desactiv* 禁用 停用 关掉 無効',
  '~ save* store* stored storing speicher* ablegen abgelegt enregistr* sauvegard* stock* guard* almacen* 保存 存储 存 存放 格納 保管',
  'backup* sicherung* sauvegarde* "copia de seguridad" respaldo* 备份 バックアップ',
  'send* sent schick* send* envoi* envoy* enví* envi* mand* 发送 发 寄 送る 送っ 送信',
  'read* lesen lies gelesen lire lis lu leer lee 读 读取 阅读 読む 読み 読ん',
  '~ show* display* zeig* anzeig* montr* affich* muestr* mostr* 显示 展示 表示 見せ',
  'wait* wart* attend* esper* 等 等待 等到 待つ 待っ 待ち',
  'fail* failed failing fehlschlag* scheiter* échou* échec* falla* fallo* 失败 失敗',
  'pass* passed passing green bestanden bestehen grün réuss* vert* pasa* pasan verde* 通过 绿 合格 通る 通っ パス グリーン',
  'break* broken kaputt bricht brechen cass* romp* 破坏 坏 壊',
  'slow* langsam* lent* lento* 慢 遅',
  'fast* quick* schnell* rapide* rápid* 快 快速 速',
  'small* little klein* petit* pequeñ* 小 小さ',
  'large* big groß* grand* grande* 大 大き',
  'new neu neue neuen neuer neues nouveau* nouvel* nuev* 新 新しい 新规 新規',
  'old alt alte alten altes ancien* vieux vieille* viej* antigu* 旧 老 古い',
  'real actual echt* réel* vrai* real reales verdader* 真实 真正 本物 実際 実',
  'mock* mocks attrappe* simulacr* simulé* 模拟 モック',
  'integration* integrations* intégration* integración 集成 統合 結合',
  'unit unitaire* unitari* 单元 単体 ユニット',
  'direct* directly straight direkt* directement directamente 直接 直に',
  'manual* manually "by hand" hand manuell* manuel* "à la main" manual* "a mano" 手动 人工 手動 手作業',
  'automat* automatisch* automatique* automátic* 自动 自動',
  'separate* separately  getrennt* separat* eigene* séparé* séparément separad* 单独 分开 独立 別 別々 個別',
  'single one-off einzeln* einzig* seul seule unique único  sola 单个 一つ ひとつ 単一',
  'together bundled bundle* gemeinsam zusammen gebündelt ensemble groupé* regroup* junt* agrupad* 一起 合在一起 まとめて 一緒 一緒に',
  'default* standard* standardmäßig défaut predeterminad* defecto 默认 缺省 既定 デフォルト',
  'important* wichtig* importan* 重要',
  'public* öffentlich* públic* 公开 公開の',
  'private* privat* privé* privad* 私有 非公開',
  'local* lokal* locale* local* 本地 ローカル',
  'remote* entfernt* distant* remot* 远程 リモート',
  '~ code quelltext quellcode código 代码 コード',
  'documentation docs doc doku* dokumentation documenta* 文档 文件说明 ドキュメント 文書',
  'ticket* issue* vorgang* incidencia* 工单 议题 チケット 課題',
  '"pull request" "pull requests" pr prs mr "merge request" 合并请求 プルリク プルリクエスト',
  'customer* kund* clientèle 客户们',
  'budget* presupuesto* 预算 予算',
  'cost* kosten coût* coste* costo* 成本 费用 费 費用 コスト',
  'pay* bezahl* zahl* paie* pay* pag* 付 支付 支払',
  'buy* kauf* achet* compr* 买 购买 買 購入',
  'vacation* holiday* urlaub* ferien vacances congé* vacaciones 休假 假期 休暇 休み',
  'office* büro* bureau* oficina* 办公室 オフィス 事務所',
  'home "from home" zuhause homeoffice maison domicile casa 家 在家 自宅',
  'phone* telefon* téléphon* teléfono* 电话 電話',
  'mail* email* e-mail* correo* courriel* 邮件 电子邮件 邮箱 メール',
  'dark dunkl* dunkel* sombre* oscur* 深色 暗色 ダーク',
  'light hell* clair* clar* 浅色 亮色 ライト',
  'red rot* rouge* roj* 红 赤',
  'blue blau* bleu* azul* 蓝 青',
  'live-in wohn* habit* viv* 住 居住 住んで',
  'learn* lern* apprend* aprend* 学 学习 学ぶ 勉強',
  'experience* erfahrung* expérience* experiencia* 经验 経験',
  'beginner newbie anfänger* débutant* principiante* 初学者 新手 初心者',
  'allergic* allergi* alérgic* 过敏 アレルギー',
  'vegetarian* vegetarisch* végétarien* vegetarian* 素食 ベジタリアン',
  'drink* trink* boi* beb* 喝 飲',
  'eat* ess* mang* com* 吃 食べ',
  'lead* leads leite* leitet leitung dirige* dirig* lidera* líder 负责 带领 領導 率い 担当',
  'report* berichte* rapport* inform* 汇报 报告 報告',
  'move* migrate* migration* switch* umzieh* umstell* umzustell* umzug zieh* migrier* wechsel* migr* déménag*   traslad* 迁移 切换 搬 移行 切り替え 移す',
  'replace* ersetz* remplac* reemplaz* sustitu* 替换 替代 取代 置き換え 代え',
  'support* unterstütz*  soport* apoy* 支持 サポート 対応',
  'drop* dropping fallenlassen abandonn* dej* 放弃 弃 廃止',
  '~ keep* keeps retain* behalt* aufbewahr* gard* conserv* mantén* manten* 保留 保持 维持 残す 保つ',
  'limit* begrenz* limit* 限制 制限',
  'retry retries retried wiederhol* réessa* reintent* 重试 リトライ 再試行',
]

export interface MeaningWords {
  /** Whole words and phrases, by their words. */
  readonly exact: ReadonlyMap<string, string>
  /** Beginnings of words. */
  readonly stems: ReadonlyMap<string, string>
  /** Entries of scripts without blanks. */
  readonly unspaced: ReadonlyMap<string, string>
  readonly longest: number
}

const isUnspaced = (entry: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(entry)

/** Entries of a list; what stands in quotes is one. */
const entriesOf = (list: string): readonly string[] =>
  [...list.matchAll(/"([^"]+)"|(\S+)/gu)].map(([, phrase, word]) => (phrase ?? word ?? '').toLowerCase())

function build(): MeaningWords {
  const exact = new Map<string, string>()
  const stems = new Map<string, string>()
  const unspaced = new Map<string, string>()
  const note = (entry: string, meaning: string): void => {
    const isStem = entry.endsWith('*')
    const bare = isStem ? entry.slice(0, -1) : entry
    const into = isUnspaced(bare) ? unspaced : isStem ? stems : exact
    if (!into.has(bare)) into.set(bare, meaning)
    // "move" and "moving".
    if (isStem && /\p{Script=Latin}{3}e$/u.test(bare) && !into.has(bare.slice(0, -1)))
      into.set(bare.slice(0, -1), meaning)
  }
  for (const [kind, list] of Object.entries(functions))
    for (const entry of entriesOf(list)) note(entry, `!${kind}`)
  for (const [n, group] of groups.entries())
    for (const entry of entriesOf(group))
      if (entry !== '~') note(entry, `${group.startsWith('~') ? '~' : '='}${n}`)
  const longest = Math.max(...[...unspaced.keys()].map((entry) => entry.length))
  return { exact, stems, unspaced, longest }
}

export const lexicon: MeaningWords = build()
